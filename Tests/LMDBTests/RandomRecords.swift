import CisternTesting

@testable import LMDB

/// Records of the main table with random keys. They are put in parts, whose values have different sizes.
struct RandomRecords {
  /// The parts, each with 500 keys.
  static let parts = 0..<6
  private static let partSize = 500
  private static let sizes = [0...20, 90...200, 900...1_100, 2_000...2_100, 3_000...20_000]

  let keys: [[UInt8]]
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    keys = Self.keys(Self.parts.count * Self.partSize, using: &generator)
  }

  /// Returns random keys, some of which can be equal.
  static func keys(_ count: Int, using generator: inout SeededGenerator) -> [[UInt8]] {
    (0..<count).map { _ in
      // Few distinct bytes, so that many keys have common prefixes and some are prefixes of others.
      (0..<Int.random(in: 1...40, using: &generator)).map { _ in UInt8.random(in: 0...3, using: &generator) }
    }
  }

  /// Returns further keys, some of which may have a record.
  mutating func otherKeys(_ count: Int) -> [[UInt8]] { Self.keys(count, using: &generator) }

  /// Puts the records of a part in one transaction. From the fourth part on, also removes records of earlier parts.
  mutating func put(_ part: Int, in environment: Environment) throws {
    let (keys, sizes) = (keys, Self.sizes[part % Self.sizes.count])
    var generator = generator
    defer { self.generator = generator }
    try environment.withWrite { (transaction) throws(LMDBError) in
      let table = environment.mainDatabase
      for key in keys[part * Self.partSize..<(part + 1) * Self.partSize] {
        let value = [UInt8](repeating: UInt8(part), count: Int.random(in: sizes, using: &generator))
        try transaction.put(value.rawSpan, forKey: key.rawSpan, in: table)
        if part > 2, Bool.random(using: &generator) {
          let removed = keys[Int.random(in: 0..<part * Self.partSize, using: &generator)]
          try transaction.removeValue(forKey: removed.rawSpan, in: table)
        }
      }
    }
  }
}
