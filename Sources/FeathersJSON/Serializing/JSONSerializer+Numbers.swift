extension JSONSerializer {
    mutating func write(_ integer: Int64) {
        var rest = integer.magnitude
        // Int64.min has 19 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var position = digits.count
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                position &-= 1
                digits[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest != 0
            if integer < 0 { output.append(UInt8(ascii: "-")) }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[position...]))
        }
    }

    /// Writes a number as JavaScript's `Number::toString` (ECMA-262, 6.1.6.1.20).
    mutating func write(_ number: Double) {
        // Below 2^53 an integral number has the digits of the integer; -0 is written 0.
        if number.magnitude < 9_007_199_254_740_992, let integer = Int64(exactly: number) {
            write(integer)
            return
        }
        guard number.isFinite else {
            output.append(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
            return
        }
        // Swift's description has the same digits, the fewest that read back as this number, in another layout.
        var description = number.magnitude.description
        if number < 0 { output.append(UInt8(ascii: "-")) }
        description.withUTF8 { writeLayout(ofDescription: $0) }
    }

    /// Lays out `digits`, `digits.digits` or `digits.digitse±digits` as JavaScript does.
    private mutating func writeLayout(ofDescription description: UnsafeBufferPointer<UInt8>) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: description.count) { digits in
            var count = 0
            /// How many digits stand before the decimal point; negative with zeros after it.
            var point: Int?
            var exponent = 0
            var index = 0
            while index < description.count, description[index] != UInt8(ascii: "e") {
                let byte = description[index]
                index += 1
                if byte == UInt8(ascii: ".") {
                    point = count + (point ?? 0)
                } else if byte != UInt8(ascii: "0") || count > 0 {
                    digits[count] = byte
                    count += 1
                } else if point != nil {
                    point = (point ?? 0) - 1
                }
            }
            var pointPosition = point ?? count
            if index < description.count {
                let isNegative = description[index + 1] == UInt8(ascii: "-")
                for byte in description[(index + 1)...] where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") {
                    exponent = exponent * 10 + Int(byte - UInt8(ascii: "0"))
                }
                pointPosition += isNegative ? -exponent : exponent
            }
            while count > 1, digits[count - 1] == UInt8(ascii: "0") { count -= 1 }
            write(digits: UnsafeBufferPointer(rebasing: digits[..<count]), pointPosition: pointPosition)
        }
    }

    /// Writes `0.digits` times ten to the power of `pointPosition`.
    private mutating func write(digits: UnsafeBufferPointer<UInt8>, pointPosition: Int) {
        switch pointPosition {
        case digits.count...21:
            output.append(contentsOf: digits)
            for _ in digits.count..<pointPosition { output.append(UInt8(ascii: "0")) }
        case 1...21:
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[..<pointPosition]))
            output.append(UInt8(ascii: "."))
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[pointPosition...]))
        case -5...0:
            output.append("0.")
            for _ in pointPosition..<0 { output.append(UInt8(ascii: "0")) }
            output.append(contentsOf: digits)
        default:
            output.append(digits[0])
            if digits.count > 1 {
                output.append(UInt8(ascii: "."))
                output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[1...]))
            }
            output.append(UInt8(ascii: "e"))
            output.append(UInt8(ascii: pointPosition > 0 ? "+" : "-"))
            write(Int64((pointPosition - 1).magnitude))
        }
    }
}

extension Double {
    /// The number as JavaScript's `String(x)` writes it.
    var javaScriptDescription: String {
        var serializer = JSONSerializer(minimumCapacity: 32, allowsNonFinite: true)
        serializer.write(self)
        return serializer.output.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
