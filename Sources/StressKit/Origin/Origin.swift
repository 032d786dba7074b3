/// The source of values that no tier has.
protocol Origin: Sendable {
  /// Returns the newest value of a key, with its stamp. Throws if the origin fails, or if the task is cancelled.
  func fetch(_ key: Int) async throws -> [UInt8]
}

/// The reason why an origin did not return a value.
enum OriginError: Error, CustomStringConvertible {
  /// The status of the response is not 200.
  case status(Int)
  /// The response is not a value of this key.
  case garbled(String)

  var description: String {
    switch self {
    case .status(let status): "the origin answered with status \(status)"
    case .garbled(let name): "the origin's answer for \(name) is not a value of this key"
    }
  }
}

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
