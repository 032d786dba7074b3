import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

// Large values need pages in a row, also if small ones fill the file.

extension MixedSizesTests {
  private func fill(_ cache: any TransactionalPartition, mebibytes: Int) async throws {
    for number in 0..<mebibytes * 2600 {
      put("small \(number)", number, size: 800, in: cache)
      if number % 500 == 499 { await cache.waitForRoom() }
    }
  }

  @Test(arguments: [(4, 517_000, false), (4, 517_000, true), (16, 2_090_000, true)])
  func `a large value displaces at most a few times its own size`(
    mebibytes: Int, large: Int, reads: Bool
  ) async throws {
    let tier = try open(.mebibytes(mebibytes))
    let cache = try tier.cache(delivered: delivered)
    try await fill(cache, mebibytes: mebibytes)
    try await tier.flush()
    var number = 100_000
    for round in 0..<12 {
      for _ in 0..<25 * mebibytes {
        put("small \(number)", number, size: 800, in: cache)
        number += 1
      }
      try await tier.flush()
      let held = bytesHeld(cache)
      put("large \(round)", round, size: large, in: cache)
      try await tier.flush()
      #expect(cache.get("large \(round)") == value(round, size: large))
      // The index and the reserve of extents can need evictions, too.
      #expect(held - bytesHeld(cache) < 2 * large, "round \(round)")
      #expect(bytesHeld(cache) > (mebibytes << 20) / 2, "round \(round): \(bytesHeld(cache))")
      guard reads else { continue }
      for other in max(number - 600 * mebibytes, 0)..<number { _ = cache.get("small \(other)") }
      for other in 0...round { _ = cache.get("large \(other)") }
    }
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [(4, 400_000), (8, 1_042_000)])
  func `the large values of a group stay beside each other`(mebibytes: Int, large: Int) async throws {
    let tier = try open(.mebibytes(mebibytes))
    let cache = try tier.cache(delivered: delivered)
    try await fill(cache, mebibytes: mebibytes)
    try await tier.flush()
    for round in 0..<12 {
      for number in 0..<200 { put("small \(200_000 + round * 200 + number)", number, size: 800, in: cache) }
      let keys = (0..<3).map { "large \(round) \($0)" }
      for key in keys { put(key, round, size: large, in: cache) }
      try await tier.flush()
      for key in keys { #expect(cache.get(key) == value(round, size: large), "\(key)") }
      for other in 0..<round { _ = cache.get("large \(other) 0") }
    }
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [(4, 300_000), (8, 1_000_000)])
  func `large values find room beside a process that writes, and readers`(mebibytes: Int, large: Int) async throws {
    let tier = try open(.mebibytes(mebibytes))
    let cache = try tier.cache(delivered: delivered)
    let child = try ChildProcess(
      "mixed-in-step", scratch.store, "\(mebibytes << 20)", "processCrash", "layout=dense")
    let isDone = Switch<Bool>()
    let reader = Task {
      var number = 0
      while isDone.peek() == nil {
        for _ in 0..<200 {
          number += 1
          _ = cache.contains(bytes("small \(number * 7919 % 60_000)").rawSpan)
        }
        await Task.yield()
      }
    }
    defer { isDone.set(true) }
    var generator = SeededGenerator(seed: 5)
    var number = 0
    for round in 0..<30 {
      // The other process writes one more group meanwhile.
      _ = child.readLine()
      for _ in 0..<Int.random(in: 1...300, using: &generator) {
        let isOld = Int.random(in: 0..<10, using: &generator) < 4
        let key = isOld ? Int.random(in: 0...number, using: &generator) : number
        let side = Int.random(in: 1...141, using: &generator) * Int.random(in: 1...141, using: &generator)
        put("small \(key)", number, size: 60 + side, in: cache)
        number += 1
      }
      put("large \(round)", round, size: large, in: cache)
      try await tier.flush()
      try #require(delivered.reportCodes == [], "round \(round)")
    }
    isDone.set(true)
    await reader.value
    _ = child.kill()
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
