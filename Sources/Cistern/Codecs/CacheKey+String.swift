#if canImport(Darwin)
  import Foundation
#else
  @_spi(_Unicode) import Swift
#endif

/// A string's bytes are its UTF-8, in Unicode's normalization form C: "é" and "e" with an accent put on are equal, and
/// have the same bytes. Strings that are in that form already, as ASCII is, are not copied.
extension String: CacheKey {
  /// Calls `body` with the string's UTF-8. O(n); copies nothing of ASCII.
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // Not by way of `utf8Span`: optimised, that of a short string shows the stack after the string has left it. Nor by
    // `withUTF8`, save where there is no other way: it counts a reference to the string that it may change.
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
      // The view ends with the call.
      return try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }
    var normalized = normalizedForKey()
    // As above.
    return try normalized.withUTF8 { bytes in
      try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }
  }

  /// The string with these bytes; nil when they are not UTF-8.
  public init?(keyBytes: RawSpan) {
    // Read for the duration of the call only.
    let string = unsafe keyBytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let string else { return nil }
    self = string
  }

  /// Whether a string's UTF-8 is in normalization form C. A short look for ASCII, which is.
  @usableFromInline
  static func isNormalized(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    if unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)).isASCII { return true }
    // Read for the duration of the call only; the bytes are a string's, and so are valid.
    var span = unsafe UTF8Span(unchecked: Span(_unsafeElements: bytes))
    return span.checkForNFC(quickCheck: true) || span.checkForNFC(quickCheck: false)
  }

  @usableFromInline
  func normalizedForKey() -> String {
    #if canImport(Darwin)
      precomposedStringWithCanonicalMapping
    #else
      // The standard library's own, by which strings are compared. The public ones are in Foundation, with all of ICU.
      String(UnicodeScalarView(_nfc))
    #endif
  }
}

extension RawSpan {
  /// Whether no byte is above 127: eight at a time.
  var isASCII: Bool {
    let count = byteCount
    var seen: UInt64 = 0
    // In bounds by the comparisons.
    if count >= 8 {
      var offset = 0
      while offset &+ 8 < count {
        seen |= unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
        offset &+= 8
      }
      // The last eight, some of them for the second time.
      seen |= unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 8, as: UInt64.self)
    } else {
      for offset in 0..<count {
        seen |= UInt64(unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
      }
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }
}
