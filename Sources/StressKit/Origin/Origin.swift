/// The source of values that no tier has.
protocol Origin: Sendable {
  /// Returns the newest value of a key, with its stamp. Throws if the origin fails, or if the task is cancelled.
  func fetch(_ key: Int) async throws -> [UInt8]
}

extension KeySpace {
  /// Returns a value of the key with this payload. If `payload` is nil, the value has a synthetic payload of the
  /// key's size.
  func value(of key: Int, version: Version, run: UInt64, payload: [UInt8]? = nil) -> [UInt8] {
    let payload = payload ?? madeUpPayload(of: key, count: sizes[key])
    return Stamp(run: run, key: key, version: version, payload: payload).value(payload: payload)
  }

  /// Returns a synthetic payload that differs between most keys.
  func madeUpPayload(of key: Int, count: Int) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: key &* 31 &+ 7), count: count)
  }
}
