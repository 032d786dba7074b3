extension ByteCount {
  /// Returns the limit in bytes. Throws if it is less than one byte.
  package static func checkedLimit(_ limit: ByteCount, _ name: String) throws(CisternError) -> Int {
    guard limit.bytes > 0 else {
      throw CisternError(
        .invalidArgument, "\(name) is \(limit); it must be at least one byte", location: "opening a store")
    }
    return limit.bytes
  }
}
