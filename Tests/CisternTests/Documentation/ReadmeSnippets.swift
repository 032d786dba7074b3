import Cistern
import CisternTestSupport
import Testing

/// The example of the README that is in none of the articles.
@Suite struct ReadmeSnippets: Examples {
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
