/// Creates values from arbitrary bytes, so that a fuzzer that changes bytes changes values. After the last byte, all
/// values are zero or empty.
struct ByteSource {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
    (0..<Number.bitWidth / 8).reduce(0) { number, _ in number << 8 | Number(truncatingIfNeeded: byte()) }
  }

  /// Returns nil half of the time.
  mutating func optional<Value>(_ make: (inout ByteSource) -> Value) -> Value? { flag() ? make(&self) : nil }

  /// Returns up to 255 bytes, or up to `limit` bytes.
  mutating func bytes(upTo limit: Int = 255) -> [UInt8] {
    let count = limit > 255 ? Int(number(UInt16.self)) : Int(byte())
    let taken = Array(rest.prefix(min(count, limit)))
    rest = rest.dropFirst(taken.count)
    return taken
  }

  /// Returns text. Invalid UTF-8 is repaired.
  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

  /// Returns up to three values.
  mutating func few<Value>(_ make: (inout ByteSource) -> Value) -> [Value] { (0..<byte() % 4).map { _ in make(&self) } }

  /// Returns all remaining bytes.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}
