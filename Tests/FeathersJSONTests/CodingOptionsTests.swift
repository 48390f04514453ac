import FeathersJSON
import Foundation
import Testing

@Suite("Coding options")
struct CodingOptionsTests {
    static let date = Date(timeIntervalSince1970: 1_704_164_645.678)

    static let inverted = JSONDateFormat.custom(
        encode: { .number(-$0.timeIntervalSince1970) },
        decode: { json in
            guard let number = json.number else { throw CocoaError(.coderInvalidValue) }
            return Date(timeIntervalSince1970: -number)
        })

    @Test(
        "Dates are written in the form asked for, and read back",
        arguments: [
            (.iso8601, "2024-01-02T03:04:05.678Z", date),
            (.iso8601WithoutFraction, "2024-01-02T03:04:05Z", date - 0.678),
            (.secondsSince1970, 1_704_164_645.678, date), (.millisecondsSince1970, 1_704_164_645_678, date),
            (inverted, -1_704_164_645.678, date),
        ] as [(JSONDateFormat, JSONValue, Date)])
    func dates(format: JSONDateFormat, json: JSONValue, read: Date) throws {
        let options = CodingOptions(dates: format)
        #expect(try options.encode([Self.date]) == [json])
        #expect(try options.decode(Date.self, from: json).timeIntervalSince1970 == read.timeIntervalSince1970)
    }

    @Test(
        "ISO 8601 is read with and without a fraction, whichever is written",
        arguments: [JSONDateFormat.iso8601, .iso8601WithoutFraction],
        ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"])
    func fractions(format: JSONDateFormat, text: String) throws {
        let read = try CodingOptions(dates: format).decode(Date.self, from: .string(text))
        #expect(read == Date(timeIntervalSince1970: 1_704_164_645))
    }

    @Test("What a custom format throws has the coding path of the value")
    func customFailures() throws {
        let data = JSONDataFormat.custom(
            encode: { _ in throw CocoaError(.coderInvalidValue) }, decode: { _ in throw CocoaError(.coderInvalidValue) }
        )
        let options = CodingOptions(dates: Self.inverted, data: data)
        let error = try #require(throws: DecodingError.self) {
            try options.decode([String: [Date]].self, from: ["a": [1, "x"]])
        }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
        #expect(context.underlyingError is CocoaError)
        #expect(throws: DecodingError.self) { try options.decode(Data.self, from: "AQI=") }
        let encodingError = try #require(throws: EncodingError.self) { try options.encode(["b": Data([1])]) }
        guard case .invalidValue(_, let context) = encodingError else { throw encodingError }
        #expect(context.codingPath.map(\.stringValue) == ["b"])
    }

    @Test("Data is Base64, or what a custom format makes of it")
    func data() throws {
        let bytes = JSONDataFormat.custom(
            encode: { .array($0.map { .integer(Int64($0)) }) },
            decode: { Data(($0.array ?? []).compactMap { $0.integer.flatMap(UInt8.init(exactly:)) }) })
        #expect(try CodingOptions().encode(Data([1, 2])) == "AQI=")
        #expect(try CodingOptions(data: bytes).encode(Data([1, 2])) == [1, 2])
        #expect(try CodingOptions(data: bytes).decode(Data.self, from: [1, 2]) == Data([1, 2]))
    }

    @Test(
        "Numbers that JSON lacks are refused, null, or words",
        arguments: [
            (.null, .infinity, nil, .nan), (.null, -.infinity, nil, .nan), (.null, .nan, nil, .nan),
            (.strings(positiveInfinity: "+", negativeInfinity: "-", nan: "?"), .infinity, "+", .infinity),
            (.strings(positiveInfinity: "+", negativeInfinity: "-", nan: "?"), -.infinity, "-", -.infinity),
            (.strings(positiveInfinity: "+", negativeInfinity: "-", nan: "?"), .nan, "?", .nan),
        ] as [(JSONFloatFormat, Double, JSONValue, Double)])
    func floats(format: JSONFloatFormat, number: Double, json: JSONValue, read: Double) throws {
        let options = CodingOptions(nonConformingFloats: format)
        #expect(try options.encode([number]) == [json])
        #expect(try options.encode([Float(number)]) == [json])
        let double = try options.decode(Double.self, from: json)
        #expect(double == read || double.isNaN && read.isNaN)
        let float = try options.decode(Float.self, from: json)
        #expect(float == Float(read) || float.isNaN && read.isNaN)
        #expect(throws: DecodingError.self) { try options.decode(Double.self, from: "other") }
        #expect(throws: EncodingError.self) { try CodingOptions().encode([number]) }
        #expect(throws: DecodingError.self) {
            try CodingOptions(dates: .secondsSince1970, nonConformingFloats: format).decode(Date.self, from: json)
        }
    }

    @Test("User info reaches the model both ways")
    func userInfo() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "key"))
        struct Witness: Codable {
            init() {}
            init(from decoder: any Decoder) throws { try #require(decoder.userInfo.values.first as? Int == 5) }
            func encode(to encoder: any Encoder) throws {
                try #require(encoder.userInfo.values.first as? Int == 5)
                try 1.encode(to: encoder)
            }
        }
        let options = CodingOptions(userInfo: [key: 5])
        #expect(try options.encode(Witness()) == 1)
        _ = try options.decode(Witness.self, from: 1)
    }
}
