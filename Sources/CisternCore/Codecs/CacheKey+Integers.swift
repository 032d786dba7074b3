/// The key bytes of an integer begin with the most significant byte. The sign bit of a signed integer is inverted.
///
/// The bytewise order of keys is therefore the numeric order, with negative numbers first.
extension CacheKey where Self: FixedWidthInteger & BitwiseCopyable {
  /// Calls `body` with the integer's bytes, which are on the stack. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // A span of a one-element collection is not used: in optimized builds, it refers to stack memory that is no
    // longer valid. An integer has no padding, so each of its bytes is initialized. The span is valid during the call
    // only.
    try unsafe withUnsafeBytes(of: (self ^ Self.keyOrderMask).bigEndian) { bytes in
      try unsafe body(RawSpan(_unsafeBytes: bytes))
    }
  }

  /// Creates the integer with these bytes. Returns nil if their number does not match the width.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard keyBytes.byteCount == MemoryLayout<Self>.size else { return nil }
    // Any bytes form a valid integer, and the guard checked their number.
    let ordered = unsafe keyBytes.unsafeLoadUnaligned(as: Self.self)
    self = Self(bigEndian: ordered) ^ Self.keyOrderMask
  }

  /// The sign bit of a signed type, or zero.
  @inlinable
  static var keyOrderMask: Self { isSigned ? .min : 0 }
}

extension Int8: CacheKey {}
extension Int16: CacheKey {}
extension Int32: CacheKey {}
extension Int64: CacheKey {}
extension Int128: CacheKey {}
extension UInt8: CacheKey {}
extension UInt16: CacheKey {}
extension UInt32: CacheKey {}
extension UInt64: CacheKey {}
extension UInt128: CacheKey {}

/// The key bytes of an `Int` are those of an `Int64` on every platform.
extension Int: CacheKey {
  /// Calls `body` with the bytes of the `Int64`. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try Int64(self).withKeyBytes(body)
  }

  /// Creates the integer with these bytes. Returns nil unless there are eight and the value fits.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard let wide = Int64(keyBytes: keyBytes), let value = Int(exactly: wide) else { return nil }
    self = value
  }
}

/// The key bytes of a `UInt` are those of a `UInt64` on every platform.
extension UInt: CacheKey {
  /// Calls `body` with the bytes of the `UInt64`. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try UInt64(self).withKeyBytes(body)
  }

  /// Creates the integer with these bytes. Returns nil unless there are eight and the value fits.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard let wide = UInt64(keyBytes: keyBytes), let value = UInt(exactly: wide) else { return nil }
    self = value
  }
}
