import Cistern
import CisternTesting
import Testing

/// The examples of the README that are in none of the articles.
@Suite struct ReadmeSnippets: Examples {
  @Test func `testing code that caches`() async throws {
    let clock = ManualClock()
    let origin = ScriptedOrigin<String, Int> { _, number in .value(number) }
    var configuration = Store.Configuration()
    configuration.clock = clock
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: configuration)
    let counts = try store.cache("counts", of: Int.self, keyedBy: String.self, expiry: .after(.seconds(60)))

    #expect(try await counts.value(forKey: "a", fetch: origin.fetch) == 1)
    clock.advance(by: .seconds(61))
    #expect(try await counts.value(forKey: "a", fetch: origin.fetch) == 2)
    #expect(origin.callCount(for: "a") == 2)
  }
}
