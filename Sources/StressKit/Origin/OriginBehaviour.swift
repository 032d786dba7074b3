/// The behavior of a simulated origin: its values, its latency, and its failures.
struct OriginBehaviour: Sendable {
  let run: UInt64
  let keys: KeySpace
  let register: VersionRegister
  let latency: Duration
  let failureRate: Double

  /// Waits for the latency of one answer: a random time from 50 % to 150 % of the average.
  func delay() async throws {
    guard latency > .zero else { return }
    try await Task.sleep(for: latency * Double.random(in: 0.5...1.5))
  }

  /// Returns whether this request fails.
  func fails() -> Bool {
    failureRate > 0 && Double.random(in: 0..<1) < failureRate
  }

  /// Returns a new value of the key with this payload. If `payload` is nil, the value has a synthetic payload of
  /// the key's size.
  func value(of key: Int, payload: [UInt8]?) -> [UInt8] {
    let version = register.nextFetchedVersion(key)
    return keys.value(of: key, version: version, run: run, payload: payload)
  }
}
