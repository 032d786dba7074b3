import Cistern
import CisternTestSupport
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

  /// The first example. It is compiled only: its directory is relative to the working directory of the tests.
  private func firstExample() async throws {
    struct Forecast: Codable, Sendable {
      var degrees: Int
    }

    let store = try Store(directory: "forecasts", memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
    let forecasts = try store.cache(
      "forecasts", of: Forecast.self, keyedBy: String.self, expiry: .after(.seconds(600)))

    let oslo = try await forecasts.value(forKey: "oslo") { city in
      print("fetching \(city)")
      return Forecast(degrees: 21)
    }
    print(oslo.degrees)
    try await store.close()
  }
}
