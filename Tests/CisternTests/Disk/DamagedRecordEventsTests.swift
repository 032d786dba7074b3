import Cistern
import CisternTestSupport
import CisternTesting
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The changes that observers receive for values whose records were damaged on disk.
@Suite struct DamagedRecordEventsTests {
  /// An operation on all damaged keys.
  enum Operation: CaseIterable {
    case none, set, remove, update, updateToNothing, edit, failingEdit, editToNothing, removeWhere, removePrefix,
      removeTag
    case removeAll, batchSet, batchRemove, draft, load, reload, keep, absent, returnAndRemove, find, enumerate, evict

    var removesAll: Bool {
      switch self {
      case .remove, .removeWhere, .removePrefix, .removeTag, .removeAll, .batchRemove: true
      default: false
      }
    }
  }

  /// The place of the values when the operation begins.
  enum Place: CaseIterable {
    case onDiskOnly, expiredInMemory
  }

  private let clock = ManualClock()
  private static let keyCount = 8

  @Test(arguments: Operation.allCases, [DiskLayout.ordered, .dense])
  func `observers receive one removal of each damaged value that lies on disk alone`(
    operation: Operation, layout: DiskLayout
  ) async throws {
    for merges in [false, true] { try await check(operation, .onDiskOnly, layout, merges: merges) }
  }

  @Test(arguments: Operation.allCases, [DiskLayout.ordered, .dense])
  func `observers receive one removal of each value that expires over a damaged record`(
    operation: Operation, layout: DiskLayout
  ) async throws {
    for readsFirst in [false, true] {
      try await check(operation, .expiredInMemory, layout, merges: false, readsFirst: readsFirst)
    }
  }

  private func check(
    _ operation: Operation, _ place: Place, _ layout: DiskLayout, merges: Bool, readsFirst: Bool = false
  ) async throws {
    let scratch = TemporaryDirectory()
    let limit: ByteCount = layout == .dense ? .mebibytes(4) : .kibibytes(256)
    let tier = try openTier(scratch, limit: limit, layout: layout)
    let store = try Store(
      secondTier: tier, memoryLimit: .mebibytes(8), configuration: .ignoringMemoryPressure(clock: clock))
    var configuration = CacheConfiguration<String>()
    if merges { configuration.merge = { old, new in old == new ? old : new } }
    let cache = try store.cache(
      "c", of: String.self, keyedBy: String.self, expiry: place == .onDiskOnly ? .never : .after(.seconds(10)),
      configuration: configuration)
    let changes = Recorder<Change<String, String>>()
    let token = cache.observe { changes.record($0) }
    for key in keys { cache.setValue(Self.value(key), forKey: key, tags: ["t"]) }
    try await store.flush()
    switch place {
    case .onDiskOnly: store.trimMemory(to: .bytes(0))
    case .expiredInMemory: clock.advance(by: .seconds(20))
    }
    try damage(scratch)
    if readsFirst {
      for key in keys { _ = cache[key] }
      try await settle(cache, tier)
    }
    try await perform(operation, on: cache, of: store, limit)
    try await settle(cache, tier)
    if operation.removesAll {
      let listed = try cache.page(after: nil, limit: 100).entries.map(\.key).filter { $0.hasPrefix("k") }
      #expect(listed == [], "\(operation) of \(place), merges: \(merges), \(readsFirst)")
    }
    // Reads find the damage that is left.
    var found: Set<String> = []
    for key in keys where cache[key] != nil { found.insert(key) }
    try await settle(cache, tier)
    #expect(cache.checkInvariants() == [])
    // The writer thread has then delivered all reports.
    try await store.close()
    cache["end"] = "end"
    while !changes.elements.contains(where: { $0.isInsertion(of: "end") }) { await Task.yield() }
    let present = try Self.present(
      after: changes.elements, "\(operation) of \(place), merges: \(merges), \(readsFirst)")
    #expect(present.intersection(keys) == found, "\(operation) of \(place), merges: \(merges), \(readsFirst)")
    token.cancel()
  }

  private var keys: [String] { (0..<Self.keyCount).map { "k\($0)" } }

  private static func value(_ key: String) -> String { "\(key):" + String(repeating: "P", count: 2000) }

  /// Flips a bit in each value in the file.
  private func damage(_ scratch: TemporaryDirectory) throws {
    var data = try Data(contentsOf: scratch.dataFile)
    let file = try FileHandle(forUpdating: scratch.dataFile)
    defer { try? file.close() }
    for key in keys {
      let value = Data(Self.value(key).utf8)
      var start = data.startIndex
      while let range = data.range(of: value, in: start..<data.endIndex) {
        let offset = range.lowerBound + 300
        data[offset] ^= 1
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [data[offset]])
        start = range.upperBound
      }
      try #require(start > data.startIndex, "no record of \(key)")
    }
  }

  /// Waits until the writer thread has purged invalidated records, has examined the damage that readers found, and has
  /// reported its removal.
  private func settle(_ cache: Cache<String, String>, _ tier: DiskTier) async throws {
    while tier.engine.partitions.contains(where: { !$0.invalidations.pending.isEmpty }) { await Task.yield() }
    repeat { try await tier.flush() } while tier.engine.reportedDefects.withLock { !$0.isEmpty }
    // The thread reports one commit before it begins the next one.
    for turn in 0..<2 { try await cache.commitValue("\(turn)", forKey: "settled") }
  }

  private func perform(
    _ operation: Operation, on cache: Cache<String, String>, of store: Store, _ limit: ByteCount
  ) async throws {
    struct Refusal: Error {}
    switch operation {
    case .none: break
    case .set: for key in keys { cache[key] = "new" }
    case .remove: for key in keys { cache.removeValue(forKey: key) }
    case .update: for key in keys { cache.updateValue(forKey: key) { $0 = ($0 ?? "none") + "x" } }
    case .updateToNothing: for key in keys { cache.updateValue(forKey: key) { $0 = nil } }
    case .edit:
      for key in keys {
        _ = try await cache.editValue(forKey: key) { _ in
          "e"
        } confirmedBy: {
          nil
        }
      }
    case .failingEdit:
      for key in keys {
        _ = try? await cache.editValue(forKey: key) { _ in
          "e"
        } confirmedBy: {
          throw Refusal()
        }
      }
    case .editToNothing:
      for key in keys {
        _ = try await cache.editValue(forKey: key) { _ in
          nil
        } confirmedBy: {
          nil
        }
      }
    case .removeWhere: cache.removeAll { _ in true }
    case .removePrefix: cache.removeAll(withPrefix: "k")
    case .removeTag: cache.removeAll(tagged: "t")
    case .removeAll: cache.removeAll()
    case .batchSet: try cache.batch { batch in for key in keys { batch.setValue("new", forKey: key) } }
    case .batchRemove: try cache.batch { batch in for key in keys { batch.removeValue(forKey: key) } }
    case .draft:
      let draft = cache.draft()
      for key in keys { draft[key] = (draft[key] ?? "none") + "x" }
      try draft.save()
    case .load: for key in keys { _ = try await cache.value(forKey: key) { _ in "loaded" } }
    case .reload: for key in keys { _ = try await cache.value(forKey: key, policy: .reload) { _ in "loaded" } }
    case .keep:
      for key in keys {
        _ = try await cache.load(key, policy: .reload) { $0.stored == nil ? .store("loaded") : .keepStored() }
      }
    case .absent: for key in keys { _ = try await cache.load(key, policy: .reload) { _ in .absent() } }
    case .returnAndRemove:
      for key in keys { _ = try await cache.load(key, policy: .reload) { _ in .returnAndRemove("x") } }
    case .find: for key in keys { _ = cache.find(key) }
    case .enumerate: for entry in try cache.page(after: nil, limit: 100).entries { _ = entry.value() }
    case .evict:
      for number in 0..<(limit == .mebibytes(4) ? 3_000 : 300) {
        cache["n\(number)"] = "n\(number):" + String(repeating: "p", count: 2000)
        if number % 20 == 0 { try await store.flush() }
      }
    }
  }

  /// Returns the keys that have a value after the changes. Throws if a change does not follow from those before it.
  private static func present(after changes: [Change<String, String>], _ label: String) throws -> Set<String> {
    var present: Set<String> = []
    for change in changes {
      switch change.event {
      case .inserted(let key, _): #expect(present.insert(key).inserted, "\(label): \(key) is inserted twice")
      case .updated(let key, _): #expect(present.contains(key), "\(label): \(key) is updated, but absent")
      case .removed(let key, let cause):
        #expect(present.remove(key) != nil, "\(label): \(key) is removed (\(cause)), but absent")
      case .cleared: present = []
      case .invalidated: present = present.filter { !$0.hasPrefix("k") }
      }
    }
    return present
  }
}

extension Change<String, String> {
  fileprivate func isInsertion(of key: String) -> Bool {
    if case .inserted(key, _) = event { true } else { false }
  }
}
