import FeathersJSON
import Foundation

struct Scalars: Codable, Equatable {
    var bool = true
    var string = "é"
    var int = -1
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var uint = UInt(1)
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64(Int64.max)
    var double = 0.1
    var float = Float(0.1)
    var missing: Int?
    var present: Int? = 1
}

struct Nested: Codable, Equatable {
    struct Leaf: Codable, Equatable {
        var name: String
        var numbers: [Int]
    }

    enum Choice: Codable, Equatable {
        case none
        case one(Int)
        case two(a: String, b: Leaf)
    }

    enum Color: String, Codable {
        case red, green
    }

    var leaf = Leaf(name: "a", numbers: [1, 2])
    var leaves = [Leaf(name: "b", numbers: []), Leaf(name: "c", numbers: [3])]
    var optionals: [Int?] = [1, nil, 3]
    var byName = ["x": Leaf(name: "d", numbers: [4])]
    var byNumber = [7: "seven"]
    var color = Color.green
    var choices: [Choice] = [.none, .one(1), .two(a: "a", b: Leaf(name: "e", numbers: []))]
    var matrix = [[1.5], [], [2, 3]]
    /// Without letters, whose case is not Foundation's.
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21, 22))
    var url = URL(string: "https://example.com/a?b=c")
    var data = Data([0, 1, 254, 255])
    var decimal = Decimal(string: "12.34")
    var nothing = Nothing()
}

struct Nothing: Codable, Equatable {}

/// Uses every kind of container by hand.
class Animal: Codable {
    var legs = 4

    init() {}
}

final class Dog: Animal {
    enum Keys: String, CodingKey {
        case name, nested, list, twice
    }

    enum Inner: String, CodingKey {
        case a, b
    }

    var name = "Rex"

    override init() {
        super.init()
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        name = try container.decode(String.self, forKey: .name)
        let nested = try container.nestedContainer(keyedBy: Inner.self, forKey: .nested)
        _ = try nested.decode(Int.self, forKey: .a)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        _ = try list.decode(Int.self)
        var inner = try list.nestedUnkeyedContainer()
        _ = try inner.decode(String.self)
        _ = try list.nestedContainer(keyedBy: Inner.self).decode(Bool.self, forKey: .b)
        _ = try list.decodeNil()
        _ = try Int(from: list.superDecoder())
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .name)
        var nested = container.nestedContainer(keyedBy: Inner.self, forKey: .nested)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(1)
        var inner = list.nestedUnkeyedContainer()
        var object = list.nestedContainer(keyedBy: Inner.self)
        try list.encodeNil()
        try 5.encode(to: list.superEncoder())
        // Filled after their siblings, which is allowed.
        try inner.encode("deep")
        try object.encode(true, forKey: .b)
        try nested.encode(1, forKey: .a)
        var first = container.nestedContainer(keyedBy: Inner.self, forKey: .twice)
        try first.encode(1, forKey: .a)
        var second = container.nestedContainer(keyedBy: Inner.self, forKey: .twice)
        try second.encode(2, forKey: .b)
        try super.encode(to: container.superEncoder())
    }
}
