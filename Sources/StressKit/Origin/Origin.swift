/// Where values come from when no tier has them.
protocol Origin: Sendable {
  /// Brings the newest value of a key, with its stamp. Throws where the origin fails, and when it is cancelled.
  func fetch(_ key: Int) async throws -> [UInt8]
}

/// Why an origin did not answer with a value.
enum OriginError: Error, CustomStringConvertible {
  /// It answered with another status than 200.
  case status(Int)
  /// What it answered with is not the value of this key.
  case garbled(String)

  var description: String {
    switch self {
    case .status(let status): "the origin answered with status \(status)"
    case .garbled(let name): "the origin's answer for \(name) is not that key's"
    }
  }
}

/// Makes the values that an origin answers with, and decides how well it works today.
struct OriginBehaviour: Sendable {
  let run: UInt64
  let keys: KeySpace
  let register: VersionRegister
  let latency: Duration
  let failureRate: Double

  /// Waits as long as an answer takes: between half of the latency and one and a half of it.
  func delay() async throws {
    guard latency > .zero else { return }
    try await Task.sleep(for: latency * Double.random(in: 0.5...1.5))
  }

  /// Whether this request fails.
  func fails() -> Bool {
    failureRate > 0 && Double.random(in: 0..<1) < failureRate
  }

  /// A new value of the key around `payload`; around a made-up one of the key's size where none is given.
  func value(of key: Int, payload: [UInt8]?) -> [UInt8] {
    let version = register.nextFetchedVersion(key)
    return keys.value(of: key, version: version, run: run, payload: payload)
  }
}

extension KeySpace {
  /// A value of the key around `payload`; around a made-up one of the key's size where none is given.
  func value(of key: Int, version: Version, run: UInt64, payload: [UInt8]? = nil) -> [UInt8] {
    let payload = payload ?? madeUpPayload(of: key, count: sizes[key])
    return Stamp(run: run, key: key, version: version, payload: payload).value(payload: payload)
  }

  /// Bytes that differ from key to key.
  func madeUpPayload(of key: Int, count: Int) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: key &* 31 &+ 7), count: count)
  }
}
