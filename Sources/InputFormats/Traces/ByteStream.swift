#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A source of bytes that is read once, from beginning to end.
protocol ByteStream: ~Copyable {
  /// Returns the next bytes, or an empty slice at the end.
  mutating func next() throws -> ArraySlice<UInt8>
}

/// Returns the message of a failed system call.
package func systemErrorMessage(_ code: Int32 = errno) -> String {
  // `strerror` returns a terminated string, which is copied immediately.
  unsafe String(cString: strerror(code))
}
