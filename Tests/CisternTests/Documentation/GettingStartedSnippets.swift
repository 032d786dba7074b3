import Cistern
import CisternTestSupport
import CisternTesting
import Testing

/// The examples of "Getting started".
@Suite struct GettingStartedSnippets: Examples {
  /// The first program. It is compiled only: its directory is relative to the working directory of the tests.
  private func firstProgram() async throws {
    struct Book: Codable, Sendable {
      var title: String
      var pages: Int
    }

    /// Stands for a client of a server.
    struct Library: Sendable {
      func book(_ isbn: String) async throws -> Book { Book(title: "Title of \(isbn)", pages: 320) }
    }

    let store = try Store(directory: "book-cache", memoryLimit: .mebibytes(16), diskLimit: .mebibytes(256))
    let books = try store.cache("books", of: Book.self, keyedBy: String.self, expiry: .after(.seconds(3600)))

    let loaded = try await books.loadedValue(forKey: "9780131103627") { isbn in try await Library().book(isbn) }
    print("\(loaded.value.title), from: \(loaded.source)")

    try await store.close()
  }

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

  private struct Book: Codable, Sendable, Equatable {
    var title: String
  }

  @Test func `a second run finds the value of the first on disk`() async throws {
    let scratch = TemporaryDirectory()
    let title = Book(title: "Title")
    for source in [Loaded<Book>.Source.fetched, .secondTier] {
      let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(16), diskLimit: .mebibytes(256))
      let books = try store.cache("books", of: Book.self, keyedBy: String.self, expiry: .after(.seconds(3600)))
      let loaded = try await books.loadedValue(forKey: "9780131103627") { _ in title }
      #expect(loaded.value == title)
      #expect(loaded.source == source)
      try await store.close()
    }
  }
}
