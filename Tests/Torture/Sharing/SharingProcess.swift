import Cistern
import Foundation

/// A process that shares a store's directory with others. It draws operations by its seed, runs them sequentially,
/// and logs when each began and returned.
struct SharingProcess {
  /// The number of processes in a round.
  static let count = 3

  let directory: String
  let kind: SharingKind
  let process: Int
  let generation: Int
  private var random: Mixer
  private var store: Store
  private var cache: Cache<String, [UInt8]>
  private let log: SharedLog

  init(directory: String, kind: SharingKind, process: Int, generation: Int, seed: UInt64) throws {
    self.directory = directory
    self.kind = kind
    self.process = process
    self.generation = generation
    log = SharedLog(path: Self.logPath(directory, process, generation))
    random = Mixer(state: seed &+ UInt64(process) << 32 &+ UInt64(generation) << 16)
    (store, cache) = try Self.open(directory, kind, &random, log)
  }

  static func logPath(_ directory: String, _ process: Int, _ generation: Int) -> String {
    "\(directory).log-\(process)-\(generation)"
  }

  /// Runs `operations` operations, or fewer if the process is killed.
  mutating func run(operations: Int) async {
    for number in 1...operations {
      let operation = draw()
      log.begin(operation, number: number)
      do {
        let result = try await carryOut(
          operation, as: SharedAuthor(process: process, generation: generation, number: number))
        log.end(number: number, result: result)
      } catch {
        log.fault("\(operation.text) threw \(error)")
      }
      if random.next(below: 60) == 0 { await reopen() }
    }
    do { try await store.close() } catch { log.fault("closing threw \(error)") }
  }

  private mutating func reopen() async {
    do {
      try await store.close()
      (store, cache) = try Self.open(directory, kind, &random, log)
    } catch {
      log.fault("reopening threw \(error)")
    }
  }

  private static func open(
    _ directory: String, _ kind: SharingKind, _ random: inout Mixer, _ log: SharedLog
  ) throws -> (Store, Cache<String, [UInt8]>) {
    var configuration = Store.Configuration()
    configuration.durability = .processCrash
    configuration.commitInterval = .milliseconds(1)
    configuration.reportHandler = { report in log.fault("\(report)") }
    let store = try openStore(directory, kind, &random, configuration)
    var cacheConfiguration = CacheConfiguration<[UInt8]>()
    cacheConfiguration.schema = CacheSchema(version: kind.schemaVersion(&random)) { bytes, _ in bytes }
    return (
      store, try store.cache("shared", of: [UInt8].self, keyedBy: String.self, configuration: cacheConfiguration)
    )
  }

  /// Opens the store, and draws limits until one equals that of the processes with the directory open. A store
  /// refuses another limit.
  private static func openStore(
    _ directory: String, _ kind: SharingKind, _ random: inout Mixer, _ configuration: Store.Configuration
  ) throws -> Store {
    for _ in 0..<1000 {
      let limit = kind.diskLimit(&random)
      let opened = Result { () throws -> Store in
        try Store(
          directory: directory, memoryLimit: kind.memoryLimit, diskLimit: limit, configuration: configuration)
      }
      if case .failure(let error) = opened, kind == .shrinking,
        (error as? CisternError)?.code == .storeInUse
      {
        continue
      }
      return try opened.get()
    }
    throw SharingFault.noLimitAccepted
  }

  // MARK: Operations

  private mutating func draw() -> SharedOperation {
    let own = key(of: process)
    switch random.next(below: 40) {
    case 0..<10: return .set(key: own)
    case 10..<12: return .remove(key: own)
    case 12..<16:
      return .batch(keys: (0..<4).map { SharedKey(owner: process, slot: (own.slot + $0) % SharedKey.slotCount) })
    case 16..<19: return .load(key: own)
    case 19: return .removeTagged("owner:\(random.next(below: Self.count))")
    case 20: return .removeTagged("class:\(random.next(below: 4))")
    case 21, 22: return .removeTagged("absent:\(random.next(below: 3))")
    case 23: return .removePrefixed(key(of: random.next(below: Self.count)).text)
    case 24: return .removePrefixed("absent/")
    case 25: return random.next(below: 4) == 0 ? .removeAll : .removePrefixed("\(random.next(below: Self.count))/")
    default: return .read(key: key(of: random.next(below: Self.count)))
    }
  }

  private mutating func key(of owner: Int) -> SharedKey {
    SharedKey(owner: owner, slot: random.next(below: SharedKey.slotCount))
  }

  /// - Returns: The author of the value that a read or load returned.
  private func carryOut(_ operation: SharedOperation, as author: SharedAuthor) async throws -> SharedAuthor? {
    switch operation {
    case .set(let key):
      try await cache.commitValue(author.value(of: key), forKey: key.text, tags: key.tags)
    case .remove(let key):
      try await cache.commitRemoval(forKey: key.text)
    case .batch(let keys):
      try await cache.commitBatch { batch in
        for key in keys { batch.setValue(author.value(of: key), forKey: key.text, tags: key.tags) }
      }
    case .removeTagged(let tag):
      try await cache.commitRemovalOfAll(tagged: tag)
    case .removePrefixed(let prefix):
      try await cache.commitRemovalOfAll(withPrefix: prefix)
    case .removeAll:
      cache.removeAll()
      try await store.flush()
    case .load(let key):
      let value = try await cache.value(forKey: key.text, tags: key.tags) { _ in author.value(of: key) }
      try await store.flush()
      return try self.author(of: value, key)
    case .read(let key):
      guard let value = cache[key.text] else { return nil }
      return try self.author(of: value, key)
    }
    return nil
  }

  private func author(of value: [UInt8], _ key: SharedKey) throws -> SharedAuthor {
    guard let author = SharedAuthor(of: value, key: key) else {
      throw SharingFault.unwrittenValue(key.text, String(decoding: value.prefix(40), as: UTF8.self))
    }
    return author
  }
}

/// A result that no operation explains.
enum SharingFault: Error {
  case unwrittenValue(String, String)
  case noLimitAccepted
}
