import Cistern
import CisternTesting
import Testing

/// The examples of "Fetch contexts and outcomes".
@Suite struct FetchOutcomesSnippets: Examples {
  private struct Page: Codable, Sendable, Equatable {
    var entityTag: String?
    var body = ""

    init(_ response: Response) {
      entityTag = response.entityTag
      body = response.body
    }

    init(head: String, body: String = "") {
      entityTag = head
      self.body = body
    }
  }

  private struct Response: Sendable {
    var status = 200
    var entityTag: String? = "v1"
    var body = "text"
    var maximumAge = Duration.seconds(60)
  }

  private struct BadStatus: Error {
    init(_ status: Int) {}
  }

  private struct Stream: Sendable {
    let head = "v2"

    func collect() async throws -> String { "streamed" }
  }

  private struct Server: Sendable {
    func get(_ path: String, ifNoneMatch tag: String?) async throws -> Response {
      Response(status: path == "/missing" ? 404 : tag == "v1" ? 304 : 200)
    }

    func open(_ path: String) async throws -> Stream { Stream() }

    func page(_ path: String) async throws -> Page { Page(head: "v3", body: "new") }
  }

  private let server = Server()
  private let clock = ManualClock()

  private func samplePages() throws -> Cache<String, Page> {
    try sampleStore(clock: clock).cache(
      "pages", of: Page.self, keyedBy: String.self, expiry: .after(.seconds(60), graceStale: .seconds(600)))
  }

  @Test func `a conditional request`() async throws {
    let pages = try samplePages()
    for path in ["/", "/", "/missing"] {
      let loaded = try await pages.load(path) { context in
        let response = try await server.get(context.key, ifNoneMatch: context.stored?.value.entityTag)
        return switch response.status {
        case 304: .keepStored(expiry: .after(response.maximumAge, graceStale: .seconds(3_600)))
        case 200: .store(Page(response), expiry: .after(response.maximumAge, graceStale: .seconds(3_600)))
        case 404, 410: .absent()
        default: throw BadStatus(response.status)
        }
      }
      if let loaded { print("\(loaded.value.body), \(loaded.age ?? .zero) old") }
      #expect(loaded?.value.body == (path == "/" ? "text" : nil))
      clock.advance(by: .seconds(70))
    }
  }

  @Test func `an early value`() async throws {
    let (pages, path) = (try samplePages(), "/")
    let page = try await pages.load(path) { context in
      let stream = try await server.open(context.key)
      context.announce(Page(head: stream.head))
      return .store(Page(head: stream.head, body: try await stream.collect()))
    }
    #expect(page?.value.entityTag == "v2")
  }

  @Test func `several keys`() async throws {
    let (pages, paths) = (try samplePages(), ["/", "/a"])
    let result = try await pages.load(keys: paths, policy: .freshOnly.timingOut(after: .seconds(5))) { contexts in
      var outcomes: [String: FetchOutcome<Page>] = [:]
      for context in contexts {
        let response = try await server.get(context.key, ifNoneMatch: context.stored?.value.entityTag)
        outcomes[context.key] = response.status == 304 ? .keepStored() : .store(Page(response))
      }
      return outcomes
    }
    for (path, loaded) in result.details { print("\(path): \(loaded.source)") }
    #expect(result.values.count == 2)
  }

  @Test func `a refresh and a fetch anew`() async throws {
    let (pages, path) = (try samplePages(), "/")
    let isStarted = pages.refresh(path) { context in .store(try await server.page(context.key)) }
    let newest = try await pages.value(forKey: path, policy: .fetchAnew) { path in try await server.page(path) }
    #expect(isStarted && newest.body == "new")
  }

  @Test func `the details of a value`() async throws {
    let (pages, path) = (try samplePages(), "/")
    pages[path] = Page(head: "v4")
    if let found = pages.find(path) {
      print("from \(found.source), stale: \(found.isStale), tags: \(found.tags)")
      print("stored \(found.age ?? .zero) ago, fresh for \(found.remainingLifetime ?? .zero)")
    }
    #expect(pages.find(path)?.age == .zero)
  }
}
