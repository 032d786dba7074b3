import Cistern
import CisternTesting
import Testing

private struct NotFound: Error {}

extension Client {
  func articleIfAny(_ id: String) async throws -> Article? { id == "missing" ? nil : try await article(id) }
}

/// The examples of "When the origin fails".
@Suite struct WhenTheOriginFailsSnippets: Examples {
  @Test func `separate windows`() async throws {
    let store = try sampleStore()
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), staleWhileRevalidate: .seconds(30), staleIfError: .seconds(86_400)))
    articles[id] = edited
    #expect(articles.find(id)?.remainingLifetime == .seconds(60))
  }

  @Test func `a stale value instead of an error`() async throws {
    let clock = ManualClock()
    let store = try sampleStore(clock: clock)
    var configuration = CacheConfiguration<Article>()
    configuration.loadPolicy = .freshElseStale
    configuration.refreshRetryInterval = .seconds(5)
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(86_400)), configuration: configuration)
    articles[id] = edited
    clock.advance(by: .seconds(61))
    #expect(try await articles.value(forKey: id) { _ in throw NotFound() } == edited)
    // Within the interval the origin is left alone.
    #expect(try await articles.value(forKey: id) { id in try await client.article(id) } == edited)
  }

  @Test func `errors that reach the callers`() async throws {
    let clock = ManualClock()
    var configuration = CacheConfiguration<Article>()
    configuration.loadPolicy = .freshElseStale
    configuration.fallsBack = { error in !(error is NotFound) }
    let articles = try sampleStore(clock: clock).cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(86_400)), configuration: configuration)
    articles[id] = edited
    clock.advance(by: .seconds(61))
    await #expect(throws: NotFound.self) { try await articles.value(forKey: id) { _ in throw NotFound() } }
    #expect(articles.find(id)?.value == edited)
  }

  @Test func `further attempts, and a limit`() async throws {
    var configuration = CacheConfiguration<Article>()
    configuration.retry = RetryPolicy(attempts: 4, initialDelay: .milliseconds(100)) { error in !(error is NotFound) }
    configuration.flightLimit = 8
    let articles = try sampleStore().cache(
      "articles", of: Article.self, keyedBy: String.self, configuration: configuration)
    await #expect(throws: NotFound.self) { try await articles.value(forKey: id) { _ in throw NotFound() } }
  }

  @Test func `a circuit breaker`() async throws {
    var configuration = CacheConfiguration<Article>()
    configuration.circuitBreaker = CircuitBreaker(
      opensAfter: .failureShare(0.5, minimumCalls: 20, within: .seconds(10)), openDuration: .seconds(2)
    ) { error in !(error is NotFound) }
    let articles = try sampleStore().cache(
      "articles", of: Article.self, keyedBy: String.self, configuration: configuration)
    for number in 0..<30 {
      await #expect(throws: NotFound.self) { try await articles.value(forKey: "\(number)") { _ in throw NotFound() } }
    }
    #expect(articles.statistics.rejected == 0)
    struct Offline: Error {}
    for number in 0..<50 { _ = try? await articles.value(forKey: "\(number)") { _ in throw Offline() } }
    #expect(articles.statistics.rejected > 0)
  }

  @Test func `timeouts`() async throws {
    let articles = try sampleArticles()
    let article = try await articles.value(
      forKey: id,
      policy: .freshElseStale.returningStale(after: .milliseconds(200)).timingOut(after: .seconds(5))
    ) { id in try await client.article(id) }
    #expect(articles[id] == article)
  }

  @Test func `absent values`() async throws {
    let store = try sampleStore()
    let id = "missing"
    var configuration = CacheConfiguration<Article?>()
    configuration.absenceExpiry = .after(.seconds(5))
    let articles = try store.cache(
      "articles", of: Article?.self, keyedBy: String.self, expiry: .after(.seconds(60)), configuration: configuration)

    let article = try await articles.value(forKey: id) { id in try await client.articleIfAny(id) }
    #expect(article == nil)
    #expect(articles.isKnownAbsent(id))
  }

  @Test func `events`() async throws {
    let articles = try sampleArticles()
    let events = articles.events
    let log = Task {
      for await event in events {
        if event.droppedCount > 0 { print("\(event.droppedCount) events were dropped") }
        switch event.kind {
        case .fetchFailed, .refreshFailed, .timedOut: print("\(event)")
        case .circuitChanged: print("the circuit breaker is \(event.circuitChange?.to ?? .closed)")
        default: break
        }
      }
    }
    let handled = Recorder<String>()
    let token = articles.observeEvents { event in
      if event.kind == .fetchFailed, let key = event.key { handled.record(key) }
    }
    await #expect(throws: NotFound.self) { try await articles.value(forKey: id) { _ in throw NotFound() } }
    while handled.count == 0 { await Task.yield() }
    #expect(handled.elements == [id])
    token.cancel()
    log.cancel()
    await log.value
  }

  @Test func `statistics count failures and fallbacks`() throws {
    let articles = try sampleArticles()
    let statistics = articles.statistics
    print("\(statistics.failures) fetches failed, \(statistics.timeouts) callers waited too long")
    print("\(statistics.staleHits) stale values were returned, \(statistics.refreshes) refreshes began")
    print("\(statistics.rejected) fetches were rejected by the circuit breaker")
    #expect(statistics.failures == 0)
  }
}
