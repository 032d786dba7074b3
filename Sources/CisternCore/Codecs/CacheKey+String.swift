#if canImport(Darwin)
  import Foundation
#else
  @_spi(_Unicode) import Swift
#endif

/// The key bytes of a string are its UTF-8 in Unicode normalization form C. Strings that compare equal have the same
/// bytes, even if only one of them uses decomposed accents.
///
/// A string that is already in this form, such as an ASCII string, is not copied.
extension String: CacheKey {
  /// Calls `body` with the string's UTF-8. O(n); an ASCII string is not copied.
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // `utf8Span` is not used: in optimized builds, the span of a short string refers to stack memory that is no
    // longer valid. `withUTF8` is only the fallback, because it may change the string and therefore retains it.
    let result = try unsafe utf8.withContiguousStorageIfAvailable { bytes in
      try unsafe withKeyBytes(ofUTF8: bytes, body)
    }
    if let result { return result }
    var string = self
    return try string.withUTF8 { bytes in
      try unsafe withKeyBytes(ofUTF8: bytes, body)
    }
  }

  @inlinable
  @inline(__always)
  func withKeyBytes<Result>(
    ofUTF8 bytes: UnsafeBufferPointer<UInt8>, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    if unsafe Self.isNormalized(bytes) {
      // The span is valid during the call only.
      return try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }
    var normalized = normalizedForKey()
    // The span is valid during the call only.
    return try normalized.withUTF8 { bytes in
      try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }
  }

  /// Creates the string with these bytes. Returns nil if they are not valid UTF-8.
  public init?(keyBytes: RawSpan) {
    // `String(validating:as:)` is generic, and costs several times as much. The span is used during the call only.
    let string: String? = unsafe keyBytes.withUnsafeBytes { bytes in
      guard let characters = unsafe try? UTF8Span(validating: Span(_unsafeBytes: bytes)) else { return nil }
      return String(copying: characters)
    }
    guard let string else { return nil }
    self = string
  }

  /// Returns whether the bytes are valid UTF-8, so that a string has them.
  @usableFromInline
  static func isUTF8(_ bytes: RawSpan) -> Bool {
    if bytes.isASCII { return true }
    // The span is used during the call only.
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe (try? UTF8Span(validating: Span(_unsafeBytes: bytes))) != nil
    }
  }

  /// Returns whether the UTF-8 of a string is in normalization form C. ASCII, which always is, has a fast path.
  @usableFromInline
  static func isNormalized(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    if unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)).isASCII { return true }
    // The span is used during the call only. The bytes are from a string, so they are valid UTF-8.
    var span = unsafe UTF8Span(unchecked: Span(_unsafeElements: bytes))
    return span.checkForNFC(quickCheck: true) || span.checkForNFC(quickCheck: false)
  }

  @usableFromInline
  package func normalizedForKey() -> String {
    #if canImport(Darwin)
      precomposedStringWithCanonicalMapping
    #else
      // The standard library's own normalization, which string comparison uses. The public one requires Foundation
      // with ICU.
      String(UnicodeScalarView(_nfc))
    #endif
  }
}

extension RawSpan {
  /// Whether every byte is below 128. Checks eight bytes at a time.
  var isASCII: Bool {
    let count = byteCount
    var seen: UInt64 = 0
    // The loop conditions keep all offsets in bounds.
    if count >= 8 {
      var offset = 0
      while offset &+ 8 < count {
        seen |= unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
        offset &+= 8
      }
      // The last eight bytes, which may overlap the ones before.
      seen |= unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 8, as: UInt64.self)
    } else {
      for offset in 0..<count {
        seen |= UInt64(unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
      }
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }
}
