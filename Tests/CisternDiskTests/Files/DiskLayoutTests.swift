import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The two layouts of a data file, and files that have the other one.
@Suite struct DiskLayoutTests {
  private let scratch = TemporaryDirectory()

  private var options: EnvironmentOptions {
    get throws {
      DiskOpening(
        directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
        limits: try DiskLimits(.mebibytes(16), location: "")
      ).environmentOptions()
    }
  }

  private func open(_ layout: DiskLayout) throws -> DiskFile {
    try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
    return try DiskFile.open(directory: scratch.store, options: options, layout: .only(layout))
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `a file of the other layout is refused, and stays as it is`(layout: DiskLayout) throws {
    let other: DiskLayout = layout == .ordered ? .dense : .ordered
    try open(layout).close()
    let former = try Data(contentsOf: scratch.dataFile)
    let error = #expect(throws: LMDBError.self) { _ = try open(other) }
    #expect(error?.code == .versionMismatch)
    #expect(try Data(contentsOf: scratch.dataFile) == former)
    let file = try open(layout)
    #expect(file.layout.kind == layout && !file.isNew)
    try file.close()
  }

  @Test func `a new file of extents has the first row of its log, and extents that fit the map`() throws {
    let file = try open(.dense)
    guard case .dense(let tables) = file.layout else { throw LMDBError(.invalid, operation: "test", message: "") }
    #expect(tables.limits.layout == ExtentLayout(mapSize: try options.mapSize))
    let row = try file.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.row(forKey: MetaTable.log, in: file.meta)
    }
    let log = try #require(row.flatMap { LogRow($0.rawSpan) })
    #expect(log.layout == tables.limits.layout && log.extentCount == 0 && log.open.isEmpty)
    try file.close()
  }

  @Test func `a dense file without the row of its log is damaged`() throws {
    let file = try open(.dense)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      _ = try transaction.remove(MetaTable.log, in: file.meta)
    }
    try file.close()
    let error = #expect(throws: LMDBError.self) { _ = try open(.dense) }
    #expect(error?.code == .corrupted)
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `a commit without a change keeps the format of the file`(layout: DiskLayout) throws {
    let file = try open(layout)
    let number = try file.environment.information().lastTransaction
    var extents: ExtentState?
    try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.advanceTransaction(in: &transaction.transaction)
      try step.finish(in: &transaction)
    }
    #expect(try file.environment.information().lastTransaction == number + 1)
    try file.close()
    try open(layout).close()
  }
}
