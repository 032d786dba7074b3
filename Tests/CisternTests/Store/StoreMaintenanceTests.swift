import CisternTestSupport
import Cistern
import CisternTesting
import Foundation
import Testing

/// Verification, compaction and backups of stores, as a program uses them.
@Suite struct StoreMaintenanceTests {
  private func open(_ directory: String, clock: ManualClock, isReadOnly: Bool = false) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    configuration.clock = clock
    configuration.isReadOnly = isReadOnly
    configuration.respondsToMemoryPressure = false
    return try Store(
      directory: directory, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8), configuration: configuration)
  }

  private func texts(_ store: Store) throws -> Cache<String, String> {
    try store.cache("texts", of: String.self, keyedBy: String.self)
  }

  @Test func `a backup has the values of all caches, with their expiry and tags`() async throws {
    let scratch = TemporaryDirectory()
    let clock = ManualClock()
    let store = try open(scratch.store, clock: clock)
    let (texts, numbers) = (try texts(store), try store.cache("numbers", of: Int.self, keyedBy: Int.self))
    for number in 0..<100 {
      texts.setValue("text \(number)", forKey: "\(number)", tags: number % 2 == 0 ? ["even"] : [])
      numbers[number] = number * 7
    }
    texts.setValue("short", forKey: "short", expiry: .after(.seconds(60)))
    texts.removeAll(tagged: "none")
    texts.removeValue(forKey: "1")
    try await store.backup(to: scratch.path + "/copy")
    texts["2"] = "changed later"
    #expect(try await store.verify().isSound)
    try await store.close()

    let copy = try open(scratch.path + "/copy", clock: clock)
    #expect(copy.reports.isEmpty)
    let (copied, others) = (try self.texts(copy), try copy.cache("numbers", of: Int.self, keyedBy: Int.self))
    for number in 0..<100 {
      #expect(copied["\(number)"] == (number == 1 ? nil : "text \(number)"))
      #expect(others[number] == number * 7)
    }
    #expect(copied["short"] == "short")
    clock.advance(by: .seconds(61))
    #expect(copied["short"] == nil)
    copied.removeAll(tagged: "even")
    #expect(copied["4"] == nil && copied["5"] == "text 5")
    let verification = try await copy.verify()
    #expect(verification.isSound && verification.recordCount > 0)
    try await copy.close()
  }

  @Test func `a closed directory is compacted, and an open one is refused`() async throws {
    let scratch = TemporaryDirectory()
    let clock = ManualClock()
    let store = try open(scratch.store, clock: clock)
    let cache = try texts(store)
    for number in 0..<500 {
      cache.setValue(String(repeating: "v", count: 2000), forKey: "\(number)", tags: ["t\(number % 4)"])
    }
    try await store.flush()
    cache.removeAll(tagged: "t1")
    cache["0"] = "kept"
    let error = await #expect(throws: CisternError.self) { try await Store.compact(directory: scratch.store) }
    #expect(error?.code == .storeInUse)
    try await store.close()
    let compaction = try await Store.compact(directory: scratch.store)
    #expect(compaction.after < compaction.before && compaction.damagedRecordCount == 0)
    let again = try open(scratch.store, clock: clock)
    #expect(again.reports.isEmpty)
    let reopened = try texts(again)
    #expect(reopened["0"] == "kept")
    for number in 1..<500 { #expect((reopened["\(number)"] == nil) == (number % 4 == 1), "\(number)") }
    #expect(try await again.verify().isSound)
    try await again.close()
  }

  @Test func `a directory without a store is not compacted`() async throws {
    let scratch = TemporaryDirectory()
    for directory in [scratch.path, scratch.path + "/absent"] {
      let error = await #expect(throws: CisternError.self) { try await Store.compact(directory: directory) }
      #expect(error?.code == .directoryUnusable)
    }
    #expect(scratch.names(in: ".") == [])
  }

  @Test func `a closed store and a store in memory have nothing to verify or to copy`() async throws {
    let scratch = TemporaryDirectory()
    let closed = try open(scratch.store, clock: ManualClock())
    try await closed.close()
    let inMemory = try Store.inMemory(memoryLimit: .mebibytes(1))
    let other = try Store(secondTier: FileTier(file: scratch.url("tier")), memoryLimit: .mebibytes(1))
    for (store, code) in [
      (closed, CisternError.Code.storeClosed), (inMemory, .invalidArgument), (other, .invalidArgument),
    ] {
      let backup = await #expect(throws: CisternError.self) { try await store.backup(to: scratch.path + "/copy") }
      let verification = await #expect(throws: CisternError.self) { _ = try await store.verify() }
      #expect(backup?.code == code && verification?.code == code)
    }
    #expect(!scratch.names(in: ".").contains { $0.hasPrefix("copy") })
  }

  @Test(arguments: [
    "store/copy", "store/new/copy", "store/../store/copy", "store/../store/new/../copy", "new/../store/copy",
  ])
  func `no backup is written into the directory of its store`(target: String) async throws {
    let scratch = TemporaryDirectory()
    let store = try open(scratch.store, clock: ManualClock())
    try texts(store)["a"] = "one"
    let names = scratch.names(in: "store")
    let error = await #expect(throws: CisternError.self) { try await store.backup(to: scratch.path + "/" + target) }
    #expect(error?.code == .directoryUnusable)
    #expect(scratch.names(in: "store") == names && scratch.names(in: ".") == ["store"])
    // A path that leads out of the directory is permitted, and its missing directories are created.
    try await store.backup(to: scratch.path + "/store/../copies/one")
    #expect(scratch.names(in: "copies") == ["one"])
    try await store.close()
  }

  @Test func `a read-only store in an empty directory has no defects, and no file to copy`() async throws {
    let scratch = TemporaryDirectory()
    try FileManager.default.createDirectory(at: scratch.url("empty"), withIntermediateDirectories: false)
    let store = try open(scratch.path + "/empty", clock: ManualClock(), isReadOnly: true)
    let verification = try await store.verify()
    #expect(verification.isSound && verification.recordCount == 0)
    let error = await #expect(throws: CisternError.self) { try await store.backup(to: scratch.path + "/copy") }
    #expect(error?.code == .diskFailed)
    #expect(scratch.names(in: ".") == ["empty"])
    try await store.close()
  }

  @Test func `directories can be file URLs, and other URLs are refused`() async throws {
    let scratch = TemporaryDirectory()
    let (directory, target) = (scratch.url("a store"), scratch.url("a copy"))
    let store = try Store(directory: directory, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(1))
    try texts(store)["a"] = "one"
    try await store.backup(to: target)
    let remote = try #require(URL(string: "https://example.com/store"))
    let backup = await #expect(throws: CisternError.self) { try await store.backup(to: remote) }
    #expect(backup?.code == .invalidArgument)
    try await store.close()
    try await Store.compact(directory: target)
    #expect(scratch.names(in: ".") == ["a copy", "a store"])
    let copy = try Store(directory: target, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(1))
    #expect(try texts(copy)["a"] == "one")
    try await copy.close()
    let opening = #expect(throws: CisternError.self) {
      _ = try Store(directory: remote, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(1))
    }
    #expect(opening?.code == .invalidArgument)
  }
}
