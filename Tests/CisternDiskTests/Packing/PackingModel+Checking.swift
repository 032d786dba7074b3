import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

extension PackingModel {
  /// Expects that the committed file has the expected records and no others, and that all numbers agree with them.
  func check(hasExactLiveBytes: Bool = true) throws {
    let tables = target.committed
    #expect(target.violations.isEmpty)
    var live: [ExtentNumber: Int] = [:]
    var found: [Key: Value] = [:]
    var sizes: [Generation: Int] = [:]
    for (generation, items) in tables.index {
      for item in items {
        let record = try #require(try record(at: item.address, in: tables), "an item leads to no record")
        #expect(
          item.digest == RecordDigest(of: record.key.rawSpan) && tables.partitionNumbers[record.name] == generation)
        if case .inExtent(let number, _)? = item.address.location(in: limits.layout) {
          live[number, default: 0] += record.room
        }
        guard !tables.dead.contains(generation) else { continue }
        sizes[generation, default: 0] += record.size
        let isNew = found.updateValue(record.value, forKey: Key(generation: generation, key: record.key)) == nil
        #expect(isNew, "a key has two records")
      }
      #expect(zip(items, items.dropFirst()).allSatisfy { $0.digest <= $1.digest })
    }
    #expect(found == contents)
    let addresses = Set(tables.index.values.joined().map(\.address))
    #expect(addresses.isSuperset(of: tables.renewals.keys), "a renewal is left without a record")
    checkCounts(tables, sizes)
    guard hasExactLiveBytes else { return }
    let state = try ExtentState(target.rows, committed: target.number)
    for (number, extent) in state.log.all { #expect(extent.liveBytes == live[number] ?? 0) }
    #expect(Set(state.log.all.map(\.number)) == tables.extents)
    #expect(Set(state.separates.records.keys) == Set(tables.separates.keys))
    for case let own? in states where own.committed == target.number {
      let isEqual = own.log.all.elementsEqual(state.log.all, by: ==)
      #expect(
        isEqual && own.separates == state.separates && own.partitionNumbers == state.partitionNumbers
          && own.reclaim == state.reclaim)
    }
  }

  private func checkCounts(_ tables: MemoryTarget.Tables, _ sizes: [Generation: Int]) {
    for (generation, counts) in tables.counts {
      #expect(counts.records == contents.keys.count { $0.generation == generation })
      #expect(counts.bytes == sizes[generation] ?? 0)
    }
  }

  /// Expects that each reader finds the records of its snapshot.
  func checkReaders() throws {
    for reader in readers {
      for (key, value) in reader.contents {
        #expect(try self.value(key, in: reader.tables) == value, "a reader has lost a record of its snapshot")
      }
    }
  }

  /// The number of bytes of all keys and values.
  var payload: Int { contents.reduce(0) { $0 + $1.key.key.count + $1.value.bytes.count } }
}
