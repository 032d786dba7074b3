import CisternCore
import Foundation
import Testing

@Suite struct CodecTests {
  private struct Article: Codable, Sendable, Equatable {
    var title: String
    var words: Int
    var image: Data
    var tags: [String]
  }

  private let article = Article(title: "Ünï", words: 1_200, image: Data([0, 255]), tags: ["a", ""])

  private func expectRoundTrip<C: Codec>(_ codec: C, _ values: C.Value...) throws where C.Value: Equatable {
    for value in values {
      let bytes = try codec.encode(value)
      #expect(try codec.decode(bytes) == value)
      if let size = codec.encodedSize(of: value) { #expect(size == bytes.count) }
    }
  }

  @Test func `each codec decodes its encoded values, and predicts their encoded size correctly`() throws {
    try expectRoundTrip(.bytes, [], [1, 2, 3])
    try expectRoundTrip(.data, Data(), Data([1, 2, 3]), Data([1, 2, 3, 4])[1...2])
    try expectRoundTrip(.string, "", "abc", "日本語", "e\u{301}", String(repeating: "x", count: 100_000))
    try expectRoundTrip(.fixedWidth(Int.self), .min, -1, 0, 1, .max)
    try expectRoundTrip(.fixedWidth(UInt16.self), .min, 1, 256, .max)
    try expectRoundTrip(.fixedWidth(Int128.self), .min, -1, Int128(1) << 100, .max)
    try expectRoundTrip(.floatingPoint(Double.self), 0, -1.5, .infinity, -.infinity, .leastNonzeroMagnitude)
    try expectRoundTrip(.floatingPoint(Float.self), 0, -1.5, .infinity, .greatestFiniteMagnitude)
    try expectRoundTrip(.json(Article.self), article)
    try expectRoundTrip(.json(Int?.self), nil, 7)
    try expectRoundTrip(.propertyList(Article.self), article)
    try expectRoundTrip(.propertyList([Double].self), [.infinity, 1.5])
  }

  @Test func `a decoded string has the same Unicode scalars`() throws {
    let decoded = try StringCodec().decode(StringCodec().encode("e\u{301}"))
    #expect(Array(decoded.unicodeScalars) == ["e", "\u{301}"])
  }

  @Test func `a NaN and a negative zero keep their bit patterns`() throws {
    for value in [Double.nan, .signalingNaN, -0.0] {
      let codec = FloatingPointCodec<Double>()
      #expect(try codec.decode(codec.encode(value)).bitPattern == value.bitPattern)
    }
  }

  @Test func `numbers are encoded in little-endian byte order`() throws {
    #expect(FixedWidthCodec<UInt32>().encode(0x0102_0304) == [4, 3, 2, 1])
    #expect(FloatingPointCodec<Float>().encode(1) == [0, 0, 0x80, 0x3F])
  }

  @Test func `codecs with predictable sizes return them without encoding`() {
    #expect(BytesCodec().encodedSize(of: [1, 2]) == 2)
    #expect(StringCodec().encodedSize(of: "é") == 2)
    #expect(FixedWidthCodec<Int64>().encodedSize(of: 7) == 8)
    #expect(FloatingPointCodec<Float>().encodedSize(of: 7) == 4)
    #expect(JSONCodec<Article>().encodedSize(of: article) == nil)
  }

  @Test func `decoding a number from the wrong number of bytes throws`() {
    #expect(throws: CodecError.wrongLength(expected: 8, actual: 7)) {
      try FixedWidthCodec<Int64>().decode([1, 2, 3, 4, 5, 6, 7])
    }
    #expect(throws: CodecError.wrongLength(expected: 4, actual: 0)) { try FloatingPointCodec<Float>().decode([]) }
    let message = CodecError.wrongLength(expected: 4, actual: 0).description
    #expect(message == "the value must have 4 bytes, but has 0")
  }

  @Test func `decoding a string from invalid UTF-8 throws`() {
    for bytes: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], Array("abc".utf8) + [0x80]] {
      #expect(throws: CodecError.invalidUTF8) { try StringCodec().decode(bytes) }
    }
  }

  @Test func `JSON and property list codecs throw for values they cannot encode and bytes they cannot decode`() {
    #expect(throws: EncodingError.self) { try JSONCodec<Double>().encode(.nan) }
    #expect(throws: DecodingError.self) { try JSONCodec<Article>().decode([]) }
    #expect(throws: DecodingError.self) { try JSONCodec<Article>().decode(Array("{}".utf8)) }
    #expect(throws: (any Error).self) { try PropertyListCodec<Int>().encode(1) }
    #expect(throws: DecodingError.self) { try PropertyListCodec<Article>().decode([1, 2, 3]) }
  }

  @Test func `encoding a byte array does not copy its bytes`() throws {
    let bytes: [UInt8] = Array(repeating: 7, count: 1_000)
    let encoded = BytesCodec().encode(bytes)
    // The pointers are compared and never dereferenced.
    let isShared = unsafe bytes.withUnsafeBytes { left in
      unsafe encoded.withUnsafeBytes { right in unsafe left.baseAddress == right.baseAddress }
    }
    #expect(isShared)
  }
}
