import CisternTesting
import LMDB

/// Three tables of an environment, and random changes to them. They cover the kinds of keys and the sizes of values.
struct RandomTables {
  let fixture: Fixture
  let main: Database
  let named: Database
  let numbers: IntegerDatabase
  var random: SeededGenerator
  private var next: UInt = 1

  init(seed: UInt64, mapSize: Int = 1 << 24) throws {
    fixture = try Fixture(mapSize: mapSize)
    named = try fixture.environment.openDatabase(named: "named")
    numbers = try fixture.environment.openIntegerDatabase(named: "numbers")
    main = try fixture.environment.openDatabase(named: nil)
    random = SeededGenerator(seed: seed)
  }

  var dataFile: String { fixture.directory.path + "/data.mdb" }

  /// Commits up to `count` changes, of which about one in `removals` is a removal.
  mutating func change(upTo count: Int, removals: Int) throws {
    var random = random
    var next = next
    let (main, named, numbers) = (main, named, numbers)
    defer { (self.random, self.next) = (random, next) }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for _ in 0..<Int.random(in: 1...count, using: &random) {
        // Longer than a table's name, so that no key equals a name.
        let key = [UInt8](
          repeating: UInt8.random(in: 0...9, using: &random), count: Int.random(in: 8...500, using: &random))
        let number = UInt.random(in: 1...max(next, 2), using: &random)
        let isRemoval = Int.random(in: 0..<removals, using: &random) == 0
        switch (Int.random(in: 0..<3, using: &random), isRemoval) {
        case (0, true): _ = try transaction.removeValue(forKey: key.rawSpan, in: main)
        case (1, true): _ = try transaction.removeValue(forKey: key.rawSpan, in: named)
        case (_, true): _ = try transaction.removeValue(forKey: number, in: numbers)
        case (0, false): try transaction.put(Self.value(&random).rawSpan, forKey: key.rawSpan, in: main)
        case (1, false): try transaction.put(Self.value(&random).rawSpan, forKey: key.rawSpan, in: named)
        default:
          next += 1
          try transaction.put(Self.value(&random).rawSpan, forKey: next, in: numbers, mode: .append)
        }
      }
    }
  }

  private static func value(_ random: inout SeededGenerator) -> [UInt8] {
    let longest = [16, 16, 300, 2_100, 30_000].randomElement(using: &random) ?? 16
    return [UInt8](
      repeating: UInt8.random(in: 0...255, using: &random), count: Int.random(in: 0...longest, using: &random))
  }
}
