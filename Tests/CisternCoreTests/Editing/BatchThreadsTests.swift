import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

struct BatchThreadsTests {
  @Test func `no thread reads a part of a batch, and all merged fields and updates are stored`() async throws {
    let store = try Store(secondTier: FaultInjectingTier(commits: .immediate), memoryLimit: .mebibytes(1))
    let numbers = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    let fields = try store.cache(
      "fields", of: Fields.self, keyedBy: String.self, configuration: CacheConfiguration(merge: mergeFields))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...400 {
          try numbers.batch { batch in
            for key in ["a", "b", "c", "d"] { batch.setValue(number, forKey: key) }
          }
        }
      }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<2_000 {
            let first = numbers["d"] ?? 0
            let second = numbers["a"] ?? 0
            try #require(second >= first)
            let third = numbers["d"] ?? 0
            try #require(third >= second)
          }
        }
      }
      for writer in 0..<3 {
        group.addTask {
          for number in 0..<60 {
            fields["k"] = ["\(writer) \(number)": 1]
            fields.updateValue(forKey: "k") { $0 = ($0 ?? [:]).merging(["count": 1], uniquingKeysWith: +) }
            if number % 20 == 0 { fields.trim(toCost: 0) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(numbers["a"] == 400)
    #expect(fields["k"]?["count"] == 180 && fields["k"]?.count == 181)
    #expect(numbers.checkInvariants() == [] && fields.checkInvariants() == [] && fields.watchFindings == [])
  }

  @Test func `no thread reads the encoded values of a part of a batch`() async throws {
    let store = try Store(secondTier: FaultInjectingTier(commits: .immediate), memoryLimit: .mebibytes(1))
    let texts = try store.cache("texts", of: String.self, keyedBy: Int.self)
    let others = try store.cache("others", of: String.self, keyedBy: Int.self)
    let done = Recorder<Bool>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { done.record(true) }
        // The length of a text is its number.
        for number in 1...1_000 {
          let text = String(repeating: "t", count: number)
          try store.batch { batch in
            for key in 0..<30 {
              batch.setValue(text, forKey: key, in: texts)
              batch.setValue(text, forKey: key, in: others)
            }
          }
        }
      }
      for number in 0..<2 {
        group.addTask {
          var (greatest, round) = (0, 0)
          while done.count == 0 {
            round += 1
            let cache = (round + number) % 2 == 0 ? texts : others
            let length = cache.withBytes(forKey: round * 7 % 30) { $0.byteCount } ?? 0
            try #require(length >= greatest)
            greatest = length
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
