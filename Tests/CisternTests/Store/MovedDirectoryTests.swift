import Cistern
import CisternTesting
import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore

/// Stores of one process whose directory is moved, removed or replaced while it is open.
@Suite struct MovedDirectoryTests {
  private let scratch = TemporaryDirectory()
  private let reports = Recorder<StoreReport>()

  private var path: String { scratch.store }

  private func open(
    _ path: String, diskLimit: ByteCount = .mebibytes(16), isReadOnly: Bool = false
  ) throws -> Store {
    var configuration = Store.Configuration.ignoringMemoryPressure
    // Only a flush commits.
    configuration.commitInterval = .seconds(3600)
    configuration.isReadOnly = isReadOnly
    configuration.reportHandler = { [reports] in reports.record($0) }
    return try Store(directory: path, memoryLimit: .mebibytes(1), diskLimit: diskLimit, configuration: configuration)
  }

  private func numbers(_ store: Store) throws -> Cache<String, Int> {
    try store.cache("numbers", of: Int.self, keyedBy: String.self)
  }

  private func move(_ path: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: path, toPath: other)
  }

  /// The times of the opening of another store.
  enum Time: CaseIterable, Sendable {
    case beforeCommit, afterCommit
  }

  @Test(arguments: Time.allCases, [false, true])
  func `a moved directory opens as a store of its own, with the values in it`(
    time: Time, hasOtherLimit: Bool
  ) async throws {
    let other = scratch.path + "/moved"
    let first = try open(path)
    try numbers(first)["moved"] = 1
    try await first.flush()
    try move(path, to: other)
    try numbers(first)["staged"] = 2
    if time == .afterCommit { try await first.flush() }
    let second = try open(other, diskLimit: hasOtherLimit ? .mebibytes(17) : .mebibytes(16))
    #expect(try numbers(second) !== numbers(first))
    #expect(try numbers(second)["moved"] == 1 && numbers(second)["staged"] == nil)
    try numbers(second)["second"] = 3
    try await second.flush()
    try await first.flush()
    #expect(try numbers(first)["second"] == nil && numbers(first)["staged"] == 2)
    // The path leads to the first store again.
    let third = try open(path)
    #expect(try numbers(third) === numbers(first))
    for store in [first, second, third] { try await store.close() }
    let (again, againMoved) = (try open(path), try open(other, diskLimit: .mebibytes(17)))
    #expect(try numbers(again)["staged"] == 2 && numbers(again)["second"] == nil)
    #expect(try numbers(againMoved)["moved"] == 1 && numbers(againMoved)["second"] == 3)
    for store in [again, againMoved] { try await store.close() }
  }

  @Test(arguments: Time.allCases)
  func `a store of a path whose directory was removed shares the open one`(time: Time) async throws {
    let first = try open(path)
    try numbers(first)["before"] = 1
    try await first.flush()
    try FileManager.default.removeItem(atPath: path)
    try numbers(first)["after"] = 2
    if time == .afterCommit {
      try await first.flush()
      let error = await #expect(throws: CisternError.self) { try await Store.compact(directory: path) }
      #expect(error?.code == .storeInUse)
    }
    let second = try open(path)
    #expect(try numbers(second) === numbers(first))
    try numbers(second)["after"] = 3
    #expect(try numbers(first)["after"] == 3)
    try await second.flush()
    #expect(reports.elements.map(\.code) == [.filesReplaced])
    // Other settings are refused: the directory is open.
    let error = #expect(throws: CisternError.self) { _ = try open(path, diskLimit: .mebibytes(17)) }
    #expect(error?.code == .conflictingOpen)
    try await first.close()
    try await second.close()
    let again = try open(path)
    #expect(try numbers(again)["after"] == 3)
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a path that leads to the directory of another store works in memory only until that store closes`(
    isOtherMoved: Bool
  ) async throws {
    let (one, two, link) = (scratch.path + "/one", scratch.path + "/two", scratch.path + "/link")
    let files = FileManager.default
    let other = try open(two)
    if isOtherMoved { try files.removeItem(atPath: two) }
    try numbers(other)["value"] = 2
    try await other.flush()
    try files.createDirectory(atPath: one, withIntermediateDirectories: true)
    try files.createSymbolicLink(atPath: link, withDestinationPath: one)
    let linked = try open(link)
    try numbers(linked)["value"] = 1
    try await linked.flush()
    try files.removeItem(atPath: link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: two)
    try numbers(linked)["later"] = 3
    await #expect(throws: CisternError.self) { try await linked.flush() }
    #expect(linked.statistics.disk?.mode == .degraded)
    await #expect(throws: CisternError.self) { try await linked.flush() }
    #expect(reports.elements.map(\.code) == (isOtherMoved ? [.filesReplaced] : []) + [.degraded])
    #expect(try numbers(linked)["later"] == 3 && numbers(other)["value"] == 2)
    // The directory that the link led to before is free.
    try await open(one, diskLimit: .mebibytes(17)).close()
    #expect(try numbers(open(link)) === numbers(other))
    try await other.close()
    // The first store of the link has the directory now.
    try await linked.flush()
    #expect(linked.statistics.disk?.mode == .active)
    #expect(try numbers(open(two)) === numbers(linked))
    try await linked.close()
  }

  @Test func `a directory that is moved away and back is used again`() async throws {
    let other = scratch.path + "/moved"
    let first = try open(path)
    try numbers(first)["moved"] = 1
    try await first.flush()
    try move(path, to: other)
    try await first.flush()
    try FileManager.default.removeItem(atPath: path)
    try move(other, to: path)
    let second = try open(path)
    #expect(try numbers(second) === numbers(first))
    try numbers(first)["last"] = 2
    try await first.flush()
    try await first.close()
    try await second.close()
    let again = try open(path)
    #expect(try numbers(again)["last"] == 2 && numbers(again)["moved"] == 1)
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a store moves to the directory that another one leaves`(isExchange: Bool) async throws {
    let (one, two, old) = (scratch.path + "/one", scratch.path + "/two", scratch.path + "/old")
    // The order of the openings is not that of the moves.
    let (second, first) = (try open(two), try open(one))
    try numbers(first)["value"] = 1
    try numbers(second)["value"] = 2
    for store in [first, second] { try await store.flush() }
    try move(two, to: old)
    try move(one, to: two)
    if isExchange { try move(old, to: one) }
    let opened = try open(two)
    #expect(try numbers(opened) === numbers(second))
    #expect(opened.statistics.disk?.mode == .active)
    #expect(!reports.elements.map(\.code).contains(.degraded) || isExchange)
    for store in [first, second] {
      try numbers(store)["later"] = 3
      try await store.flush()
      #expect(store.statistics.disk?.mode == .active)
    }
    for store in [first, second, opened] { try await store.close() }
  }

  @Test func `a read of a moved directory can open a store of its former and of its new path`() async throws {
    let other = scratch.path + "/moved"
    let first = try open(path)
    let bytes = try first.cache("bytes", of: [UInt8].self, keyedBy: String.self)
    bytes["moved"] = [1]
    bytes.trim(toCost: 0)
    try await first.flush()
    try move(path, to: other)
    let cache = try numbers(first)
    let isRead: Bool? = bytes.withBytes(forKey: "moved") { _ in
      // The writer thread cannot close the file during this read.
      #expect(throws: CisternError.self) { try open(other) }
      let opened = try? numbers(open(path))
      #expect(opened === cache)
      return true
    }
    #expect(isRead == true)
    try await first.flush()
    let second = try open(other)
    #expect(try second.cache("bytes", of: [UInt8].self, keyedBy: String.self)["moved"] == [1])
    for store in [first, second] { try await store.close() }
  }

  @Test func `a read-only store keeps its moved directory, and shares it with a store of the new path`() async throws {
    let other = scratch.path + "/moved"
    let writing = try open(path)
    try numbers(writing)["moved"] = 1
    try await writing.close()
    let first = try open(path, isReadOnly: true)
    try move(path, to: other)
    let second = try open(other, isReadOnly: true)
    #expect(try numbers(second) === numbers(first))
    #expect(try numbers(second)["moved"] == 1)
    try await first.close()
    try await second.close()
  }
}
