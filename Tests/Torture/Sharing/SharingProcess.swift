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
  private var caches: [Cache<String, [UInt8]>]
  private let log: SharedLog

  init(directory: String, kind: SharingKind, process: Int, generation: Int, seed: UInt64) throws {
    self.directory = directory
    self.kind = kind
    self.process = process
    self.generation = generation
    log = SharedLog(path: Self.logPath(directory, process, generation))
    random = Mixer(state: seed &+ UInt64(process) << 32 &+ UInt64(generation) << 16)
    (store, caches) = try Self.open(directory, kind, &random, log)
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
      if random.next(below: kind.needsDirectoryAlone ? 12 : 60) == 0 { await reopen() }
    }
    do { try await store.close() } catch { log.fault("closing threw \(error)") }
  }

  private mutating func reopen() async {
    do {
      try await store.close()
      // The time for which the process leaves the directory to the others.
      if kind.needsDirectoryAlone { usleep(UInt32(random.next(below: 60_000))) }
      (store, caches) = try Self.open(directory, kind, &random, log)
    } catch {
      log.fault("reopening threw \(error)")
    }
  }

  /// Opens the store and its caches. Draws settings until they agree with those of the processes that have the
  /// directory open, because a store refuses others.
  private static func open(
    _ directory: String, _ kind: SharingKind, _ random: inout Mixer, _ log: SharedLog
  ) throws -> (Store, [Cache<String, [UInt8]>]) {
    for _ in 0..<1000 {
      let settings = kind.settings(&random)
      let opened = Result {
        try settings.openStore(directory, memoryLimit: kind.memoryLimit) { log.fault("\($0)") }
      }
      if case .failure(let error) = opened, kind.needsDirectoryAlone,
        (error as? CisternError)?.code == .storeInUse
      {
        continue
      }
      let store = try opened.get()
      log.opened(settings.text)
      return (store, try settings.openCaches(of: store))
    }
    throw SharingFault.noSettingsAccepted
  }

  // MARK: Operations

  private mutating func draw() -> SharedOperation {
    let own = key(of: process)
    switch random.next(below: 40) {
    case 0..<9: return .set(key: own)
    case 9, 10: return .remove(key: own)
    case 11..<15: return .batch(keys: batchKeys(from: own))
    case 15..<17: return .load(key: own)
    case 17..<19: return .keep(key: own)
    case 19: return .removeTagged("owner:\(random.next(below: Self.count))", from: scope())
    case 20: return .removeTagged("class:\(random.next(below: 4))", from: scope())
    case 21, 22: return .removeTagged("absent:\(random.next(below: 3))", from: scope())
    case 23: return .removePrefixed(key(of: random.next(below: Self.count)).recordKey, from: own.cache)
    case 24: return .removePrefixed("absent/", from: own.cache)
    case 25:
      return random.next(below: 4) == 0
        ? .removeAll(from: own.cache) : .removePrefixed("\(random.next(below: Self.count))/", from: own.cache)
    default: return .read(key: key(of: random.next(below: Self.count)))
    }
  }

  private mutating func key(of owner: Int) -> SharedKey {
    SharedKey(
      cache: random.next(below: SharedKey.cacheNames.count), owner: owner,
      slot: random.next(below: SharedKey.slotCount))
  }

  /// Returns four keys of this process, of one cache or of all.
  private mutating func batchKeys(from first: SharedKey) -> [SharedKey] {
    let isOverCaches = random.next(below: 2) == 0
    return (0..<4).map { index in
      SharedKey(
        cache: isOverCaches ? index % SharedKey.cacheNames.count : first.cache, owner: process,
        slot: (first.slot + index) % SharedKey.slotCount)
    }
  }

  private mutating func scope() -> SharedScope {
    let index = random.next(below: SharedKey.cacheNames.count + 1)
    return index < SharedKey.cacheNames.count ? .cache(index) : .store
  }

  /// - Returns: The author of the value that a read or load returned.
  private func carryOut(_ operation: SharedOperation, as author: SharedAuthor) async throws -> SharedAuthor? {
    switch operation {
    case .set(let key):
      try await caches[key.cache].commitValue(author.value(of: key), forKey: key.recordKey, tags: key.tags)
    case .remove(let key):
      try await caches[key.cache].commitRemoval(forKey: key.recordKey)
    case .batch(let keys):
      try await store.commitBatch { batch in
        for key in keys {
          batch.setValue(author.value(of: key), forKey: key.recordKey, in: caches[key.cache], tags: key.tags)
        }
      }
    case .removeTagged(let tag, .cache(let cache)):
      try await caches[cache].commitRemovalOfAll(tagged: tag)
    case .removeTagged(let tag, .store):
      try await store.commitRemovalOfAll(tagged: tag)
    case .removePrefixed(let prefix, let cache):
      try await caches[cache].commitRemovalOfAll(withPrefix: prefix)
    case .removeAll(let cache):
      caches[cache].removeAll()
      try await store.flush()
    case .load(let key):
      let value = try await caches[key.cache].value(forKey: key.recordKey, tags: key.tags) { _ in author.value(of: key)
      }
      try await store.flush()
      return try self.author(of: value, key)
    case .keep(let key):
      let kept = try await caches[key.cache].load(key.recordKey, policy: .reload) { context in
        context.stored == nil ? .store(author.value(of: key), tags: key.tags) : .keepStored()
      }
      try await store.flush()
      return try kept.map { try self.author(of: $0.value, key) }
    case .read(let key):
      guard let value = caches[key.cache][key.recordKey] else { return nil }
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
  case noSettingsAccepted
}
