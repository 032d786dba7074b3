import CisternTesting
import LMDB
import Testing
import TestDirectories

/// Random damage is either found or harmless: these tests give each file that passes to LMDB, which would crash the
/// process.
@Suite struct FuzzedFileTests {
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `random damage that passes the check does not crash LMDB`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sample = DataFileImage.sample
    let pages = sample.bytes.count / DataFileImage.pageSize
    // The pages with structure. The others are free, or inside a value.
    let structural = (2..<pages).map { $0 * DataFileImage.pageSize }.filter {
      [1, 2, 4].contains(sample[$0 + 10, UInt16.self])
    }
    let directory = TemporaryDirectory()
    var found = 0
    var passed = 0
    for _ in 0..<75 {
      var image = sample
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let page =
          Int.random(in: 0..<8, using: &random) == 0 ? sample.meta : structural.randomElement(using: &random) ?? 0
        let places = min(16 + 2 * max(1, sample.count(page)), 200)
        let offset =
          switch Int.random(in: 0..<3, using: &random) {
          case 0: page + Int.random(in: 0..<places, using: &random)
          case 1: sample.node(0, of: page) + Int.random(in: 0..<16, using: &random)
          default: page + Int.random(in: 0..<DataFileImage.pageSize, using: &random)
          }
        guard offset < image.bytes.count else { continue }
        image.bytes[offset] =
          [0, 1, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
      }
      if try image.damage(in: directory) != nil {
        found += 1
      } else {
        passed += 1
        try use(directory)
      }
    }
    #expect(found > 15 && passed > 3)
  }

  /// Reads everything, then changes and removes everything.
  private func use(_ directory: TemporaryDirectory) throws {
    let environment = try Environment.open(directory: directory.path, options: EnvironmentOptions(mapSize: 1 << 25))
    defer { _ = code { () throws(LMDBError) in try environment.close() } }
    // LMDB may refuse damage that is harmless.
    _ = code { () throws(LMDBError) in
      let named = try environment.openDatabase(named: "named")
      let numbers = try environment.openIntegerDatabase(named: "numbers")
      let keys = try environment.withRead { (transaction) throws(LMDBError) -> [[UInt8]] in
        var keys: [[UInt8]] = []
        var cursor = try transaction.cursor(in: named)
        while try cursor.moveToNext() {
          if let key = [UInt8](copying: cursor.key) { keys.append(key) }
          _ = [UInt8](copying: cursor.value)
        }
        var others = try transaction.cursor(in: numbers)
        while try others.moveToNext() { _ = [UInt8](copying: others.value) }
        return keys
      }
      _ = try environment.freePageCount()
      for start in stride(from: 0, to: keys.count, by: 8) {
        try environment.withWrite { (transaction) throws(LMDBError) in
          for (index, key) in keys[start..<min(start + 8, keys.count)].enumerated() {
            if index % 2 == 0 {
              _ = try transaction.removeValue(forKey: key.rawSpan, in: named)
            } else {
              let value = [UInt8](repeating: 1, count: (start + index) * 37 % 5000)
              try transaction.put(value.rawSpan, forKey: key.rawSpan, in: named)
            }
          }
        }
      }
      try environment.withWrite { (transaction) throws(LMDBError) in try transaction.removeAll(in: numbers) }
    }
  }
}
