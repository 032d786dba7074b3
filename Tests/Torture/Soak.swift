import Cistern
import CisternDisk
import TestDirectories

/// Runs a mixed load in this process and samples its resources. None of them may grow continuously.
func soak(seconds: Int, seed: UInt64) async throws -> Bool {
  let folder = TemporaryDirectory()
  let tier = try DiskTier(directory: folder.store, limit: .mebibytes(16), durability: .processCrash)
  let store = try Store(secondTier: tier, memoryLimit: .mebibytes(4))
  let cache = try store.cache("values", of: [UInt8].self, keyedBy: String.self)
  let start = ContinuousClock.now
  let end = start + .seconds(seconds)
  let interval = max(1, min(5, seconds / 30))
  var samples: [Occupancy] = []
  var operations = 0
  var faults: [String] = []
  try await withThrowingTaskGroup(of: SoakClient.self) { group in
    for number in 0..<4 {
      var client = SoakClient(cache: cache, store: store, number: number, seed: seed)
      group.addTask {
        while ContinuousClock.now < end {
          try await client.work()
          // The trial looks for accumulation, and leaves most of the machine to other processes.
          try await Task.sleep(for: .milliseconds(4))
        }
        return client
      }
    }
    while ContinuousClock.now < end {
      try await Task.sleep(for: .seconds(interval))
      samples.append(Occupancy(directory: folder.store, readerSlots: tier.readerSlotCount))
    }
    for try await client in group {
      operations += client.operations
      faults += client.faults
    }
  }
  try await store.flush()
  faults += tier.checkInvariants()
  try await store.close()
  say(
    "soak: \(seconds) s, \(operations) operations, \(samples.count) samples, every \(interval) s; \(faults.count) faults"
  )
  for fault in faults.prefix(20) { say("  \(fault)") }
  var isFlat = true
  for measure in Occupancy.Measure.allCases {
    let (text, holds) = measure.judge(samples)
    say("  \(text)")
    if !holds { isFlat = false }
  }
  return isFlat && faults.isEmpty
}

/// One task of the load. It performs loads, sets, removals, batches, invalidations, observations and flushes in
/// realistic proportions.
struct SoakClient: Sendable {
  private static let keyCount = 40_000
  let cache: Cache<String, [UInt8]>
  let store: Store
  private(set) var operations = 0
  private(set) var faults: [String] = []
  private var random: Mixer

  init(cache: Cache<String, [UInt8]>, store: Store, number: Int, seed: UInt64) {
    self.cache = cache
    self.store = store
    random = Mixer(state: seed &+ UInt64(number) &* 0x9e37_79b9)
  }

  mutating func work() async throws {
    for _ in 0..<50 { try await step() }
  }

  private mutating func step() async throws {
    operations += 1
    let key = key()
    switch random.next(below: 1_000) {
    case 0..<400: check(cache.value(forKey: key), of: key)
    case 400..<700:
      let size = random.next(below: 2_000)
      check(try await cache.value(forKey: key) { key in KeyedValue.bytes(of: key, size: size) }, of: key)
    case 700..<900:
      cache.setValue(KeyedValue.bytes(of: key, size: random.next(below: 2_000)), forKey: key, tags: tags())
    case 900..<960: cache.removeValue(forKey: key)
    case 960..<980:
      let keys = (0..<8).map { _ in self.key() }
      try cache.batch { batch in for key in keys { batch.setValue(KeyedValue.bytes(of: key, size: 100), forKey: key) } }
    case 980..<990: cache.removeAll(tagged: tags()[0])
    case 990..<998:
      let token = cache.observe { _ in }
      cache.setValue(KeyedValue.bytes(of: key, size: 10), forKey: key)
      token.cancel()
    default: try await store.flush()
    }
  }

  private mutating func key() -> String {
    // Half of all uses go to one percent of the keys.
    "key-\(random.next(below: random.next(below: 2) == 0 ? Self.keyCount / 100 : Self.keyCount))"
  }

  private mutating func tags() -> [String] { ["tag-\(random.next(below: 50))"] }

  private mutating func check(_ value: [UInt8]?, of key: String) {
    if let finding = KeyedValue.finding(value, of: key) { faults.append(finding) }
  }
}
