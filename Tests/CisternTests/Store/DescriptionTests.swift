import CisternTestSupport
import Cistern
import Foundation
import Testing

@testable import CisternCore

/// Descriptions of errors, reports, caches, stores and statistics.
@Suite struct DescriptionTests {
  private struct Cause: Error, CustomStringConvertible {
    var description: String { "the disk is full" }
  }

  @Test func `an error describes the failed operation, its cause and a remedy, also as a localized description`() {
    let error = CisternError(.noSpace, "the store could not grow", location: "writing to /tmp/store", cause: Cause())
    let text =
      "the store could not grow (writing to /tmp/store): the disk is full. "
      + "Free space on the disk, or raise the store's disk limit."
    #expect(error.description == text)
    #expect((error as any Error).localizedDescription == text)
    #expect(error.failureReason == "the disk is full")
    #expect(error.recoverySuggestion == "Free space on the disk, or raise the store's disk limit")
  }

  @Test func `an error whose message contains a remedy adds none`() {
    let error = #expect(throws: CisternError.self) { _ = try Store.inMemory(memoryLimit: .bytes(0)) }
    #expect(error?.localizedDescription == "memoryLimit is 0 B; it must be at least one byte (opening a store)")
  }

  @Test func `an error leaves out the end of a long key`() throws {
    let cache = try Store.inMemory(memoryLimit: .mebibytes(1)).cache("texts", of: Int.self, keyedBy: String.self)
    for (length, end) in [(400, "key \(String(repeating: "é", count: 200))."), (600_000, "é… (600000 bytes).")] {
      let key = String(repeating: "é", count: length / 2)
      let error = #expect(throws: CisternError.self) { _ = try cache.cachedValue(forKey: key) }
      let text = try #require(error?.location)
      #expect(text.utf8.count < 1_000)
      #expect("\(text).".hasSuffix(end), "\(text)")
    }
  }

  @Test func `an error about conflicts names the first keys of each cache`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let numbers = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
    let texts = try store.cache("texts", of: String.self, keyedBy: String.self)
    let draft = store.draft()
    for key in 1...6 { draft[key, in: numbers] = key }
    draft["a", in: texts] = "draft"
    numbers.setValue(0, forKey: 1)
    texts["a"] = "cache"
    let error = try #require(throws: CisternError.self, performing: { try draft.save(onConflict: .throw) })
    let text =
      "keys that the draft wrote changed outside the draft, so it was not saved (saving a draft): conflicting keys: 1 "
      + "in the cache \"numbers\"; conflicting keys: a in the cache \"texts\". "
    #expect(error.description.hasPrefix(text))
    let conflict = try #require(error.cause as? StoreDraftConflictError)
    #expect(conflict.keys(in: numbers) == [1] && conflict.keys(in: texts) == ["a"])
    #expect("\(DraftConflictError(keys: Array(1...6)))" == "conflicting keys: 1, 2, 3, 4, 5, …")
  }

  @Test func `without keys, an error about conflicts has the number of keys alone`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let numbers = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
    let texts = try store.cache("texts", of: String.self, keyedBy: String.self)
    let (draft, whole) = (numbers.draft(), store.draft())
    for key in 1001...1003 { draft[key] = 1 }
    for key in 1001...1003 { whole[key, in: numbers] = 1 }
    whole["secret", in: texts] = "draft"
    for key in 1001...1003 { numbers[key] = 2 }
    texts["secret"] = "cache"
    let one = try #require(throws: CisternError.self, performing: { try draft.save() })
    let several = try #require(throws: CisternError.self, performing: { try whole.save() })
    let counts = [
      "3 conflicting keys", #"3 conflicting keys in the cache "numbers"; 1 conflicting key in the cache "texts""#,
    ]
    for (error, count) in zip([one, several], counts) {
      let cause = try #require(error.cause)
      try #require("\(cause)".contains("1001"))
      // An error of the fetch can be the cause itself, or have the error as its cause.
      let outer = CisternError(.diskFailed, "message", location: "a cache", cause: error)
      for shown in [cause.withoutKeys, error.withoutKeys, outer.withoutKeys, error.withoutKeys.withoutKeys] {
        #expect("\(shown)".contains(count), "\(shown)")
        #expect(!"\(shown)".contains("1001") && !"\(shown)".contains("secret"), "\(shown)")
      }
      #expect(type(of: cause.withoutKeys) == type(of: cause))
    }
    #expect((one.cause?.withoutKeys as? DraftConflictError<Int>)?.keys == [])
    #expect((several.cause?.withoutKeys as? StoreDraftConflictError)?.keys(in: numbers) == [])
  }

  @Test func `a report is one line that includes its cause`() {
    let report = StoreReport(.degraded, "the disk failed", location: "/tmp/store", cause: Cause())
    #expect("\(report)" == "degraded: the disk failed (/tmp/store): the disk is full")
    #expect("\(StoreReport(.recovered, "it works", location: "/tmp/store"))" == "recovered: it works (/tmp/store)")
  }

  @Test func `a load policy reads like its source`() {
    #expect("\(LoadPolicy.cachedOrFetch)" == "cachedOrFetch")
    #expect("\(LoadPolicy.freshOnly)" == "freshOnly")
    #expect("\(LoadPolicy.cachedOnly)" == "cachedOnly")
    #expect("\(LoadPolicy.reload)" == "reload")
    #expect("\(LoadPolicy.staleAcceptable(upTo: .seconds(5)))" == "staleAcceptable up to 5.0 seconds")
    let policy = LoadPolicy.freshElseStale.returningStale(after: .seconds(1)).timingOut(after: .seconds(3))
    #expect("\(policy)" == "freshElseStale, returning stale after 1.0 seconds, timing out after 3.0 seconds")
  }

  @Test func `an expiry has rounded numbers`() {
    let expiry = Expiry.after(.seconds(60), graceStale: .seconds(6)).refreshedAhead(at: 0.8).jittered(by: 0.125)
    #expect("\(expiry)" == "after 60.0 seconds, stale for 6.0 seconds, refreshed at 80 %, jittered by 12.5 %")
    #expect("\(Expiry.never)" == "never")
  }

  @Test func `caches and stores describe their names and contents`() async throws {
    let store = try Store.inMemory(memoryLimit: .kibibytes(1))
    #expect("\(store)" == "Store(no caches; memory: 0 entries, cost 0 of 1,024)")
    let cache = try store.cache("bytes", of: [UInt8].self, keyedBy: String.self)
    cache["k"] = [1, 2, 3]
    #expect("\(cache)" == "Cache(\"bytes\"; String to Array<UInt8>; memory: 1 entry, cost 3 of 1,024)")
    #expect("\(store)" == "Store(caches \"bytes\"; memory: 1 entry, cost 3 of 1,024)")
    let bare = try Cache<Int, Int>(countLimit: 10)
    #expect("\(bare)" == "Cache(Int to Int; memory: 0 of 10 entries, cost 0)")
    let scratch = TemporaryDirectory()
    let onDisk = try Store(directory: scratch.store, memoryLimit: .kibibytes(1), diskLimit: .mebibytes(4))
    #expect("\(onDisk)".contains("second tier: active, 0 entries, "))
    #expect("\(onDisk)".contains(" of 4 MiB"))
    try await onDisk.close()
    #expect("\(onDisk)".contains("second tier: closed"))
  }

  @Test func `statistics omit absent limits and print bytes in units`() {
    var disk = SecondTierStatistics()
    disk.mode = .readOnly
    disk.entryCount = 1_200
    disk.occupiedBytes = 3 << 20
    disk.limitBytes = 16 << 20
    disk.stagedCount = 2
    #expect("\(disk)" == "read-only, 1,200 entries, 3 MiB of 16 MiB, 2 staged")
    #expect(
      "\(MemoryStatistics(entryCount: 12, cost: 3_456, costLimit: .max, countLimit: 100))"
        == "12 of 100 entries, cost 3,456")
    let table = "\(CacheStatistics(memory: MemoryStatistics(costLimit: .max), disk: disk))"
    #expect(table.split(separator: "\n").contains { $0.hasPrefix("limit on cost ") && $0.hasSuffix(" none") })
    #expect(table.split(separator: "\n").contains { $0.hasPrefix("limit on disk ") && $0.hasSuffix(" 16 MiB") })
  }
}
