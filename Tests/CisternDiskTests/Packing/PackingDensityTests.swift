import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The share of the map that a full file has for keys and values. The numbers count bytes, so they do not depend on
/// time.
struct PackingDensityTests {
  /// A size of the map and of the values, and the expected shares while new keys are written, and old ones overwritten.
  struct Case: CustomTestStringConvertible {
    let mapSize: Int
    let valueSize: Int
    let filled: Double
    let churned: Double

    var testDescription: String { "values of \(valueSize) B in \(mapSize >> 20) MiB" }
  }

  static let cases = [
    Case(mapSize: 4 << 20, valueSize: 1024, filled: 0.79, churned: 0.70),
    Case(mapSize: 1 << 20, valueSize: 1024, filled: 0.55, churned: 0.51),
    Case(mapSize: 4 << 20, valueSize: 4000, filled: 0.82, churned: 0.72),
  ]

  /// Writes values of random keys until they are worth twice the map.
  private func write(
    keys: Range<Int>, size: Int, in model: inout PackingModel, _ generator: inout SeededGenerator
  ) throws {
    var written = 0
    while written < 2 * model.limits.pageCount * model.limits.pageSize {
      let numbers = (0..<50).map { _ in Int.random(in: keys, using: &generator) }
      var rest = numbers[...]
      while !rest.isEmpty {
        _ = try model.transaction { (model, step) throws(LMDBError) in
          while let number = rest.first {
            let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: UInt32(size))
            let value = PackingModel.Value(
              metadata: metadata, bytes: [UInt8](repeating: UInt8(number & 255), count: size))
            let key = PackingModel.Key(generation: .first, key: bytes("key \(number)"))
            guard try model.put(key, value, &step) else { return }
            rest.removeFirst()
          }
        }
      }
      written += 50 * size
    }
  }

  @Test(arguments: cases) func `a full file holds the share that the design states`(expected: Case) throws {
    var generator = SeededGenerator(seed: 1)
    var model = PackingModel(mapSize: expected.mapSize)
    _ = try model.transaction { model, step in
      _ = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    let size = expected.valueSize
    try write(keys: 0..<1 << 40, size: size, in: &model, &generator)
    let filled = Double(model.payload) / Double(expected.mapSize)
    #expect(filled > expected.filled)
    let former = model.copiedBytes
    try write(keys: 0..<expected.mapSize * 6 / 5 / size, size: size, in: &model, &generator)
    let churned = Double(model.payload) / Double(expected.mapSize)
    #expect(churned > expected.churned)
    // Cleaning copies about as much as is written.
    #expect(Double(model.copiedBytes - former) < 1.5 * Double(2 * expected.mapSize))
    try model.check()
  }
}
