import Foundation

import Cistern

private struct Article: Codable, Equatable {
  var title: String
  var words: [Int]
  var parts: [String: Data]
  var score: Double?
}

/// Feeds bytes to a codec, which the first byte selects. A decoded value must survive encoding and decoding.
func fuzzCodecs(_ input: [UInt8]) {
  let bytes = Array(input.dropFirst())
  switch (input.first ?? 0) % 11 {
  case 0: fuzz(.string, bytes) { Array($0.utf8) }
  case 1: fuzz(.bytes, bytes) { $0 }
  case 2: fuzz(.data, bytes) { Array($0) }
  case 3: fuzz(.fixedWidth(Int.self), bytes) { $0 }
  case 4: fuzz(.fixedWidth(UInt8.self), bytes) { $0 }
  case 5: fuzz(.fixedWidth(Int128.self), bytes) { $0 }
  case 6: fuzz(FloatingPointCodec<Double>(), bytes) { $0.bitPattern }
  case 7: fuzz(FloatingPointCodec<Float>(), bytes) { $0.bitPattern }
  case 8: fuzz(.json(Article.self), bytes, isExact: false) { $0 }
  case 9: fuzz(.propertyList(Article.self), bytes, isExact: false) { $0 }
  default: fuzzArticle(bytes)
  }
}

/// - Parameters:
///   - codec: The codec.
///   - bytes: The input.
///   - isExact: Whether a value has only one encoding.
///   - identity: Returns a value that is equal for equal values.
private func fuzz<Codec: Cistern.Codec>(
  _ codec: Codec, _ bytes: [UInt8], isExact: Bool = true, identity: (Codec.Value) -> some Equatable
) {
  guard let value = try? codec.decode(bytes) else { return }
  let written: [UInt8]
  do {
    written = try codec.encode(value)
    require(!isExact || written == bytes, "\(Codec.self) writes other bytes than it read")
    require(identity(try codec.decode(written)) == identity(value), "\(Codec.self) reads another value than it wrote")
  } catch {
    fatalError("broken: \(Codec.self) fails with what it has read: \(error)")
  }
  let size = codec.encodedSize(of: value)
  require(size == nil || size == written.count, "\(Codec.self) says \(size ?? 0) bytes, and writes \(written.count)")
}

private func fuzzArticle(_ bytes: [UInt8]) {
  var source = ByteSource(bytes)
  let article = Article(
    title: source.text(), words: source.few { $0.number() },
    parts: Dictionary(source.few { ($0.text(), Data($0.bytes())) }) { one, _ in one },
    score: source.optional { source in
      let score = Double(bitPattern: source.number())
      return score.isFinite ? score : 0
    })
  do {
    let json = JSONCodec<Article>()
    require(try json.decode(try json.encode(article)) == article, "\(article) is another one as JSON")
    let list = PropertyListCodec<Article>()
    require(try list.decode(try list.encode(article)) == article, "\(article) is another one as a property list")
  } catch {
    fatalError("broken: \(article) cannot be encoded and decoded: \(error)")
  }
}
