import Foundation
import LMDB
import Locking
import Testing
import TestDirectories

/// The check accepts every file that LMDB leaves behind. It never reports an undamaged file.
@Suite struct SoundFileTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `a file is sound after every commit`(seed: UInt64) throws {
    var tables = try RandomTables(seed: seed)
    for round in 0..<100 {
      // The tables grow, then shrink to nothing, then grow again.
      try tables.change(upTo: round % 3 == 0 ? 200 : 20, removals: round % 60 < 40 ? 6 : 2)
      #expect(throws: Never.self) { try DataFileCheck.run(tables.dataFile).get() }
    }
  }

  @Test func `a file is sound while it is full, and while a reader prevents the reuse of pages`() throws {
    var tables = try RandomTables(seed: 9, mapSize: 1 << 20)
    let environment = tables.fixture.environment
    var failures = 0
    for round in 0..<300 {
      do {
        try tables.change(upTo: 30, removals: round % 40 < 30 ? 8 : 2)
      } catch let error as LMDBError {
        try #require(error.code == .mapFull)
        failures += 1
      }
      if round % 10 == 0 {
        try environment.withRead { (_) throws(LMDBError) in
          // A change that does not fit is irrelevant. Only the reader matters.
          try? tables.change(upTo: 5, removals: 2)
        }
      }
      #expect(throws: Never.self) { try DataFileCheck.run(tables.dataFile).get() }
    }
    #expect(failures > 3)
  }

  @Test func `a new file, an emptied file and a compacted copy are sound`() throws {
    var tables = try RandomTables(seed: 3)
    #expect(throws: Never.self) { try DataFileCheck.run(tables.dataFile).get() }
    for _ in 0..<20 { try tables.change(upTo: 100, removals: 6) }
    let copy = TemporaryDirectory()
    try tables.fixture.environment.copy(to: copy.path + "/full", compacting: true)
    #expect(throws: Never.self) { try DataFileCheck.run(copy.path + "/full/data.mdb").get() }
    let (named, numbers) = (tables.named, tables.numbers)
    try tables.fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.removeAll(in: named)
      try transaction.removeAll(in: numbers)
    }
    #expect(throws: Never.self) { try DataFileCheck.run(tables.dataFile).get() }
    try tables.fixture.environment.copy(to: copy.path + "/empty", compacting: true)
    #expect(throws: Never.self) { try DataFileCheck.run(copy.path + "/empty/data.mdb").get() }
    let bare = try Fixture()
    #expect(throws: Never.self) { try DataFileCheck.run(bare.directory.path + "/data.mdb").get() }
  }

  @Test func `the check accepts a missing file and an empty one`() throws {
    let directory = TemporaryDirectory()
    #expect(try DataFileCheck.run(directory.path + "/data.mdb").get() == 0)
    try write([], to: directory.path + "/data.mdb")
    #expect(try DataFileCheck.run(directory.path + "/data.mdb").get() == 0)
    #expect(throws: DataFileDamage.self) { try DataFileCheck.run(directory.path).get() }
  }

  @Test func `a file that cannot be opened is unreadable, and not taken for sound`() throws {
    let directory = TemporaryDirectory()
    // A link to itself is neither missing nor readable, also for the superuser.
    let path = directory.path + "/data.mdb"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    let error = #expect(throws: SystemError.self) { try DataFileCheck.run(path) }
    #expect(error?.status == ELOOP)
  }
}
