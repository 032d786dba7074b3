#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Data is its own encoding.
extension Data: CacheKey {
  /// Calls `body` with the data's bytes, uncopied. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // The view ends with the call.
    try unsafe withUnsafeBytes { bytes in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
  }

  /// The bytes, copied.
  public init?(keyBytes: RawSpan) {
    // Read for the duration of the call only.
    self = unsafe keyBytes.withUnsafeBytes { unsafe Data($0) }
  }
}

/// A UUID's bytes are its sixteen, in the order in which it is written.
extension UUID: CacheKey {
  /// Calls `body` with the sixteen bytes, which are on the stack. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // Sixteen bytes in a row have no padding, and the view ends with the call. (Not by way of a span of a collection of
    // one: optimised, that shows the stack after the bytes have left it.)
    try unsafe withUnsafeBytes(of: uuid) { bytes in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
  }

  /// The UUID with these bytes; nil when they are not sixteen.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard keyBytes.byteCount == MemoryLayout<uuid_t>.size else { return nil }
    // Any sixteen bytes are a UUID.
    self.init(uuid: unsafe keyBytes.unsafeLoadUnaligned(as: uuid_t.self))
  }
}
