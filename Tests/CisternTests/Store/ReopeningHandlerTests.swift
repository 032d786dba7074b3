import Cistern
import CisternTestSupport
import CisternTesting
import Foundation
import Locking
import Testing

/// Report handlers that open the directory of their store.
@Suite struct ReopeningHandlerTests {
  private let scratch = TemporaryDirectory()
  /// The stores that the handlers have opened, or their errors.
  private let opened = Recorder<Result<Store, any Error>>()
  private let reports = Recorder<StoreReport.Code>()

  /// Opens the store. Its handler opens it again, once.
  private func open(isReadOnly: Bool = false, reopens: Bool = true) throws -> Store {
    var configuration = Store.Configuration.ignoringMemoryPressure
    configuration.isReadOnly = isReadOnly
    if reopens {
      let isFirst = Switch<Bool>()
      isFirst.set(true)
      configuration.reportHandler = { report in
        reports.record(report.code)
        guard isFirst.take() != nil else { return }
        opened.record(Result { try open(isReadOnly: isReadOnly, reopens: false) })
      }
    }
    return try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16), configuration: configuration)
  }

  private func fill() async throws {
    let store = try open(reopens: false)
    try numbers(store)["k"] = 1
    try await store.close()
  }

  private func numbers(_ store: Store) throws -> Cache<String, Int> {
    try store.cache("numbers", of: Int.self, keyedBy: String.self)
  }

  @Test(arguments: [false, true])
  func `a report of an opening can open the same directory, which then has one state`(isReadOnly: Bool) async throws {
    try await fill()
    try Data(repeating: 7, count: 100_000).write(to: scratch.dataFile)
    let store = try open(isReadOnly: isReadOnly)
    #expect(reports.elements == [.setAside])
    let again = try #require(try opened.elements.first?.get())
    #expect(try numbers(again) === numbers(store))
    try await store.close()
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a report of a close can open the same directory`(isReadOnly: Bool) async throws {
    try await fill()
    do {
      let store = try open(isReadOnly: isReadOnly)
      // The release of the store commits nothing, so only its end finds the removed file.
      try withExtendedLifetime(store) { try FileManager.default.removeItem(at: scratch.dataFile) }
    }
    while opened.elements.isEmpty { await Task.yield() }
    #expect(reports.elements == [.filesReplaced])
    let again = try #require(try opened.elements.first?.get())
    if !isReadOnly {
      try numbers(again)["k"] = 2
      try await again.flush()
    }
    try await again.close()
  }
}
