import Cistern

/// A key for these tests.
struct Name: CacheKey, ExpressibleByStringLiteral {
  let text: String

  init(stringLiteral text: String) {
    self.text = text
  }

  init?(keyBytes: RawSpan) {
    // The buffer is only read, inside the call that lends it.
    text = unsafe keyBytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    let bytes = Array(text.utf8)
    // An array of bytes has no padding.
    return try body(unsafe bytes.span.bytes)
  }

  var bytes: [UInt8] { Array(text.utf8) }
}

extension TransactionalPartition {
  func bytes(_ key: Name) -> [UInt8]? {
    key.withKeyBytes { key in
      // The buffer is only read, inside the call that lends it.
      withRecord(forKey: key) { _, bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
    }
  }

  func contains(_ key: Name) -> Bool {
    key.withKeyBytes { contains($0) }
  }

  func presence(of key: Name) -> Bool? {
    key.withKeyBytes { presence(of: $0) }
  }

  @discardableResult
  func set(_ key: Name, _ bytes: [UInt8]) -> StagingResult {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 0), cost: UInt32(bytes.count))
    return stage(.record(key: key.bytes, metadata, bytes: bytes))
  }

  @discardableResult
  func remove(_ key: Name) -> StagingResult {
    stage(.removal(key: key.bytes))
  }

  var keys: Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    forEachRecord { key, _, _ in
      // The buffer is only read, inside the call that lends it.
      keys.insert(unsafe key.withUnsafeBytes { unsafe [UInt8]($0) })
      return true
    }
    return keys
  }
}

extension StagingResult {
  var ticket: CommitTicket? {
    if case .staged(let ticket) = self { ticket } else { nil }
  }
}
