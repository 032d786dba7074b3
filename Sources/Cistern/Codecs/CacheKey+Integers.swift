/// An integer's bytes come most significant first, and a signed one's sign is turned over: keys in the order of their
/// bytes are in the order of their numbers, negative ones first.
extension CacheKey where Self: FixedWidthInteger & BitwiseCopyable {
  /// Calls `body` with the integer's bytes, which are on the stack. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // Not by way of a span of a collection of one: optimised, that shows the stack after the integer has left it.
    // An integer has no padding, so each of its bytes has a value, and the view ends with the call.
    try unsafe withUnsafeBytes(of: (self ^ Self.keyOrderMask).bigEndian) { bytes in
      try unsafe body(RawSpan(_unsafeBytes: bytes))
    }
  }

  /// The integer with these bytes; nil when there are more or fewer than it has.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard keyBytes.byteCount == MemoryLayout<Self>.size else { return nil }
    // Any bytes are an integer, and there are as many as it has.
    let ordered = unsafe keyBytes.unsafeLoadUnaligned(as: Self.self)
    self = Self(bigEndian: ordered) ^ Self.keyOrderMask
  }

  /// The sign bit, if there is one.
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

/// Eight bytes on every machine.
extension Int: CacheKey {
  /// Calls `body` with the bytes of the `Int64`. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try Int64(self).withKeyBytes(body)
  }

  /// The integer with these bytes; nil when they are not eight, or it does not fit.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard let wide = Int64(keyBytes: keyBytes), let value = Int(exactly: wide) else { return nil }
    self = value
  }
}

/// Eight bytes on every machine.
extension UInt: CacheKey {
  /// Calls `body` with the bytes of the `UInt64`. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try UInt64(self).withKeyBytes(body)
  }

  /// The integer with these bytes; nil when they are not eight, or it does not fit.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard let wide = UInt64(keyBytes: keyBytes), let value = UInt(exactly: wide) else { return nil }
    self = value
  }
}
