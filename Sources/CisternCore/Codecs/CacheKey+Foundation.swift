#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key bytes of data are its bytes.
extension Data: CacheKey {
  /// Calls `body` with the data's bytes, without a copy. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // The span is valid during the call only.
    try unsafe withUnsafeBytes { bytes in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
  }

  /// Creates data with a copy of the bytes.
  public init?(keyBytes: RawSpan) {
    // The pointer is used during the call only.
    self = unsafe keyBytes.withUnsafeBytes { unsafe Data($0) }
  }
}

/// The key bytes of a UUID are its sixteen bytes, in the order of its text.
extension UUID: CacheKey {
  /// Calls `body` with the sixteen bytes, which are on the stack. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // The sixteen bytes have no padding, and the span is valid during the call only. A span of a one-element
    // collection is not used: in optimized builds, it refers to stack memory that is no longer valid.
    try unsafe withUnsafeBytes(of: uuid) { bytes in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
  }

  /// Creates the UUID with these bytes. Returns nil unless there are sixteen.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard keyBytes.byteCount == MemoryLayout<uuid_t>.size else { return nil }
    // Any sixteen bytes form a valid UUID.
    self.init(uuid: unsafe keyBytes.unsafeLoadUnaligned(as: uuid_t.self))
  }
}
