extension ByteCount {
  /// Returns the limit in bytes. Throws if it is less than one byte.
  package static func checkedLimit(
    _ limit: ByteCount, _ name: String, location: String = "opening a store"
  ) throws(CisternError) -> Int {
    guard limit.bytes > 0 else {
      throw CisternError(
        .invalidArgument, "\(name) is \(limit); it must be at least one byte", location: location)
    }
    return limit.bytes
  }
}
