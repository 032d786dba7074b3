import TestDirectories
import Testing

@testable import CisternCore
@testable import CisternDisk
@testable import LMDB

/// An open file of extents.
struct ExtentFile {
  let environment: Environment
  let tables: DenseTables
}

/// A file of LMDB with extents, without the writer thread of a store.
protocol ExtentFileFixture {
  var directory: TemporaryDirectory { get }
  var recency: RecencyBitmap { get }
}

extension ExtentFileFixture {
  func open(mapSize: Int = 2 << 20) throws -> ExtentFile {
    let options = EnvironmentOptions(mapSize: mapSize, durability: .noSync)
    let environment = try Environment.open(directory: directory.path, options: options)
    let meta = try environment.openDatabase(named: DiskFile.metaName)
    return ExtentFile(environment: environment, tables: try DenseTables(environment, meta: meta))
  }

  /// Opens a new file, with a generation.
  func create(mapSize: Int = 2 << 20) throws -> ExtentFile {
    let file = try open(mapSize: mapSize)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try file.tables.putFirstRows(in: &transaction)
      try transaction.put(GenerationCounts().value, forKey: MetaTable.live(.first), in: file.tables.meta)
    }
    return file
  }

  /// Runs a transaction, which reads the state if it is nil. Aborts it if the body throws.
  func transaction(
    _ state: inout ExtentState?, _ file: ExtentFile,
    _ body: (inout ExtentStep, inout ExtentTransaction) throws(LMDBError) -> Void
  ) throws {
    let (given, tables) = (state, file.tables)
    var ended: ExtentState?
    defer { state = ended }
    let context = ExtentStep.Context(limits: tables.limits, recency: recency)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      var state = given
      if state == nil { state = try ExtentState(reading: transaction, tables) }
      var target = ExtentTransaction(transaction, tables)
      do throws(LMDBError) {
        var step = try ExtentStep(&state, context, during: try target.horizon(), in: target)
        do throws(LMDBError) {
          try body(&step, &target)
          try step.finish(withLiveBytes: true, in: &target)
          ended = step.committed()
        } catch {
          ended = step.aborted()
          throw error
        }
        transaction = target.end()
      } catch {
        transaction = target.end()
        throw error
      }
    }
  }

  /// Returns the pages of the leaves that have some entries of a table.
  func leafPages<Handle: DatabaseHandle>(
    of table: Handle, in file: ExtentFile, where isIncluded: (borrowing Cursor<Handle, CursorReads>) -> Bool
  ) throws -> Set<Int> {
    let start = unsafe UInt(bitPattern: try #require(file.environment.map.pages).start)
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      var pages: Set<Int> = []
      var cursor = try transaction.cursor(in: table)
      while try cursor.moveToNext() {
        guard isIncluded(cursor), let value = cursor.value else { continue }
        let address = unsafe value.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        pages.insert(Int((address - start) / 4096))
      }
      return pages
    }
  }

  func read(_ file: ExtentFile) throws -> ExtentState {
    try file.environment.withRead { (transaction) throws(LMDBError) in
      try ExtentState(reading: transaction, file.tables)
    }
  }
}
