/// Makes values of arbitrary bytes, so that a fuzzer that changes bytes changes values. Where there are none left, all are
/// zero or empty.
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

  /// Nil half of the time.
  mutating func optional<Value>(_ make: (inout ByteSource) -> Value) -> Value? { flag() ? make(&self) : nil }

  /// Up to 255 bytes, or as many as `limit` says.
  mutating func bytes(upTo limit: Int = 255) -> [UInt8] {
    let count = limit > 255 ? Int(number(UInt16.self)) : Int(byte())
    let taken = Array(rest.prefix(min(count, limit)))
    rest = rest.dropFirst(taken.count)
    return taken
  }

  /// Text; what is not UTF-8 is mended.
  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

  /// Up to three, of a kind.
  mutating func few<Value>(_ make: (inout ByteSource) -> Value) -> [Value] { (0..<byte() % 4).map { _ in make(&self) } }

  /// All that is left.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}
