// A program like the README's first example: it opens a store, loads one value, and prints it.
import Cistern

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct Article: Codable, Sendable {
  var title: String
}

struct Client: Sendable {
  func article(_ id: String) async throws -> Article {
    say("fetched")
    return Article(title: "Title of \(id)")
  }
}

/// Runs the example, and closes its store if `isClosing` is true.
@MainActor func runScript(isClosing: Bool) async throws {
  let client = Client()
  let path = "\(CommandLine.arguments[2])/store"
  let id = "1"
  scriptStore = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
  let store = scriptStore!
  scriptArticles = try store.cache(
    "articles", of: Article.self, keyedBy: String.self, expiry: .after(.seconds(60)))
  let article = try await scriptArticles!.value(forKey: id) { id in try await client.article(id) }
  say(article.title)
  if isClosing { try await store.close() }
}

// Globals, which are never released.
@MainActor var scriptStore: Store?
@MainActor var scriptArticles: Cache<String, Article>?

/// Prints how many descriptors and threads ten more stores add to those of the first store.
func countResources() throws -> [Store] {
  func count(_ folder: String) -> Int {
    guard let entries = unsafe opendir(folder) else { return 0 }
    defer { unsafe closedir(entries) }
    var count = 0
    while unsafe readdir(entries) != nil { count += 1 }
    return count
  }
  func open(_ number: Int) throws -> Store {
    let store = try Store(
      directory: "\(CommandLine.arguments[2])/\(number)", memoryLimit: .mebibytes(1), diskLimit: .mebibytes(1))
    _ = try store.cache("cache", of: Int.self, keyedBy: String.self)
    return store
  }
  // The first store opens the resources that the process has only once.
  var stores = [try open(0)]
  let (descriptors, threads) = (count("/proc/self/fd"), count("/proc/self/task"))
  for number in 1...10 { stores.append(try open(number)) }
  say("\(count("/proc/self/fd") - descriptors) \(count("/proc/self/task") - threads)")
  return stores
}
