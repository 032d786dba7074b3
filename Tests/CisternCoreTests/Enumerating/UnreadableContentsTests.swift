import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Contents of a cache whose second tier cannot be read.
struct UnreadableContentsTests {
  @Test func `contents that cannot be read fail, and are not taken for absent`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      subject.cache["k"] = 1
      subject.cache.trim(toCost: 0)
      subject.tier?.setMode(.degraded)
      var updates = subject.cache.contentUpdates(.keys(["k"])).makeAsyncIterator()
      guard case .failed(let error)? = await updates.next() else { throw Broken() }
      try #require(error.code == .diskFailed)
      subject.tier?.setMode(.active)
      let fold = ContentFold()
      var iterator = subject.cache.contentUpdates(.keys(["k"])).makeAsyncIterator()
      while !fold.isComplete, let update = await iterator.next() { fold.take(update) }
      try #require(fold.contents == ["k": 1] && fold.findings == [])
    }
  }
}
