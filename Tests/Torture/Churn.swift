import Cistern
import CisternDisk
import Foundation
import TestDirectories

/// Overwrites values of mixed sizes in a full store, and compares the share of the limit that values occupy early and
/// at the end.
///
/// Free space that falls into small pieces lowers the share, and makes writes of large values fail.
func churn(seconds: Int, seed: UInt64) async throws -> Bool {
  let folder = TemporaryDirectory()
  let reports = Reports()
  let tier = try DiskTier(directory: folder.store, limit: .mebibytes(16), durability: .processCrash) { reports.add($0) }
  let store = try Store(secondTier: tier, memoryLimit: .kibibytes(64))
  let cache = try store.cache("values", of: [UInt8].self, keyedBy: String.self)
  var client = ChurnClient(cache: cache, seed: seed)
  let clock = ContinuousClock()
  let start = clock.now
  var shares = ChurnShares(duration: .seconds(seconds))
  while clock.now - start < .seconds(seconds) {
    client.work()
    try await store.flush()
    let statistics = tier.statistics
    shares.add(Double(statistics.liveBytes) / Double(statistics.limitBytes), at: clock.now - start)
    // The trial looks for decay, and leaves most of the machine to other processes.
    try await Task.sleep(for: .milliseconds(4))
  }
  let statistics = tier.statistics
  var faults = client.faults + tier.checkInvariants()
  if statistics.refused + statistics.failed > 0 {
    faults.append("\(statistics.refused) writes were refused, and \(statistics.failed) failed")
  }
  if !reports.isEmpty { faults.append(reports.text) }
  try await store.close()
  let (text, holds) = shares.judge()
  say("churn: \(seconds) s, \(client.writes) writes, \(statistics.evictions) evictions; \(faults.count) faults")
  for fault in faults.prefix(20) { say("  \(fault.prefix(400))") }
  say("  \(text)")
  return holds && faults.isEmpty
}

/// The shares of the limit that values occupied, in the minute after the first sixth of the time and in the last
/// minute.
///
/// Of a trial of another duration than half an hour, a thirtieth takes the place of a minute.
private struct ChurnShares {
  /// The part of the limit that the end may lack.
  private static let tolerance = 0.01

  let duration: Duration
  private var early = Window()
  private var last = Window()

  init(duration: Duration) { self.duration = duration }

  private struct Window {
    private var sum = 0.0
    private var count = 0

    mutating func add(_ share: Double) {
      sum += share
      count += 1
    }

    var mean: Double { sum / Double(max(1, count)) }
  }

  mutating func add(_ share: Double, at time: Duration) {
    let part = time / duration
    if part >= 5.0 / 30, part < 6.0 / 30 { early.add(share) }
    if part >= 29.0 / 30 { last.add(share) }
  }

  /// Returns a description, and whether the share at the end is at least the earlier one, within the tolerance.
  func judge() -> (text: String, holds: Bool) {
    let holds = last.mean > 0 && last.mean >= early.mean - Self.tolerance
    return (
      String(format: "share of the limit: %.3f after a sixth of the time, %.3f at the end; ", early.mean, last.mean)
        + (holds ? "kept" : "SHRINKS"), holds
    )
  }
}

/// Writes values of 60 B to 40 kB, half of them to a twentieth of the keys, and reads some.
private struct ChurnClient {
  private static let keyCount = 8_000
  private let cache: Cache<String, [UInt8]>
  private(set) var writes = 0
  private(set) var faults: [String] = []
  private var random: Mixer

  init(cache: Cache<String, [UInt8]>, seed: UInt64) {
    self.cache = cache
    random = Mixer(state: seed)
  }

  mutating func work() {
    for _ in 0..<20 {
      let key = key()
      switch random.next(below: 10) {
      case 0, 1: read(key)
      case 2: cache.removeValue(forKey: key)
      default:
        writes += 1
        cache.setValue(value(of: key), forKey: key)
      }
    }
  }

  private mutating func key() -> String {
    "key-\(random.next(below: random.next(below: 2) == 0 ? Self.keyCount / 20 : Self.keyCount))"
  }

  private mutating func value(of key: String) -> [UInt8] {
    // Each factor of two is equally frequent.
    let size = Int(60 * exp2(Double(random.next(below: 9_380)) / 1_000))
    return KeyedValue.bytes(of: key, size: size)
  }

  private mutating func read(_ key: String) {
    if let finding = KeyedValue.finding(cache[key], of: key) { faults.append(finding) }
  }
}
