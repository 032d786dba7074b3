import CisternTestSupport
import Cistern
import CisternTesting
import Testing

/// The examples of "Codecs and keys".
@Suite struct CodecsAndKeysSnippets: Examples {
  @Test func `naming a codec`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", codec: .propertyList(Article.self), keyedBy: String.self)
    articles[id] = edited
    #expect(articles[id] == edited)
  }

  @Test func `a codec of one's own`() throws {
    let store = try sampleStore()
    let pixels = try store.cache("pixels", codec: PixelCodec(), keyedBy: Tile.self)
    let tile = Tile(column: 1, row: 2)
    pixels[tile] = Pixel(red: 1, green: 2, blue: 3)
    #expect(pixels.statistics.memory.cost == 3)
    #expect(try PixelCodec().decode([1, 2, 3]) == pixels[tile])
    #expect(tile.withKeyBytes { Tile(keyBytes: $0) } == tile)
  }

  @Test func `a codec without a copy`() throws {
    let store = try Store(secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1))
    let pixels = try store.cache("pixels", codec: BorrowingPixelCodec(), keyedBy: Tile.self)
    let tile = Tile(column: 1, row: 2)
    pixels[tile] = Pixel(red: 1, green: 2, blue: 3)
    store.trimMemory(to: .bytes(0))
    #expect(pixels[tile] == Pixel(red: 1, green: 2, blue: 3))
  }

  @Test func `reading without decoding`() throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
    let images = try store.cache("images", of: [UInt8].self, keyedBy: String.self)
    images[id] = [1, 2, 3]
    let size = images.withBytes(forKey: id) { bytes in bytes.byteCount }
    let head = images.withBytes(forKey: id, in: 0..<2) { bytes in bytes.byteCount }
    #expect(size == 3 && head == 2)
  }

  @Test func `a type of a module that is isolated to the main actor`() throws {
    let store = try sampleStore()
    let headlines = try store.cache("headlines", of: Headline.self, keyedBy: String.self)
    headlines[id] = Headline(title: "One")
    #expect(headlines[id]?.title == "One")
  }

  @Test func `a raw value for a key`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: ArticleID.self)
    articles[ArticleID(rawValue: 7)] = edited
    #expect(articles[ArticleID(rawValue: 7)] == edited)
  }
}

nonisolated struct Headline: Codable {
  var title: String
}

struct PixelCodec: Codec {
  func encode(_ value: Pixel) -> [UInt8] { [value.red, value.green, value.blue] }

  func decode(_ bytes: [UInt8]) throws -> Pixel {
    guard bytes.count == 3 else { throw CodecError.wrongLength(expected: 3, actual: bytes.count) }
    return Pixel(red: bytes[0], green: bytes[1], blue: bytes[2])
  }

  func encodedSize(of value: Pixel) -> Int? { 3 }
}

struct BorrowingPixelCodec: InPlaceCodec {
  func encode(_ value: Pixel) -> [UInt8] { [value.red, value.green, value.blue] }

  func decode(_ bytes: RawSpan) throws -> Pixel {
    guard bytes.byteCount == 3 else { throw CodecError.wrongLength(expected: 3, actual: bytes.byteCount) }
    return unsafe bytes.withUnsafeBytes { unsafe Pixel(red: $0[0], green: $0[1], blue: $0[2]) }
  }
}

struct ArticleID: RawRepresentable, CacheKey {
  let rawValue: UInt64
}

struct Tile: CacheKey {
  let column: UInt32
  let row: UInt32

  func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try (UInt64(column) << 32 | UInt64(row)).withKeyBytes(body)
  }

  init?(keyBytes: RawSpan) {
    guard let number = UInt64(keyBytes: keyBytes) else { return nil }
    column = UInt32(truncatingIfNeeded: number >> 32)
    row = UInt32(truncatingIfNeeded: number)
  }
}

extension Tile {
  init(column: UInt32, row: UInt32) {
    self.column = column
    self.row = row
  }
}
