import Cistern
import Foundation

/// A subject between a client and its origin. Each is used as its users would.
protocol WholeSubject: Sendable {
  /// Returns a value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fetch: Fetches the value from the origin.
  /// - Returns: The value, from the cache or from the origin.
  /// - Throws: The error of the fetch, or of the subject.
  func value(forKey key: String, fetch: @escaping @Sendable (String) async throws -> [UInt8]) async throws -> [UInt8]
  /// Removes a value, as after a change at the origin.
  func removeValue(forKey key: String) async throws
  /// Returns the subject as the client finds it after a restart.
  func restarted() async throws -> Self
  func close() async throws
}

/// The limits of all subjects on memory and disk in bytes, and the lifetime of values in seconds.
enum Limits {
  static let memory = 32 << 20
  static let disk = 1 << 30
  static let seconds = 600
}

/// No cache: every call fetches from the origin.
struct NoCache: WholeSubject {
  func value(forKey key: String, fetch: @Sendable (String) async throws -> [UInt8]) async throws -> [UInt8] {
    try await fetch(key)
  }

  func removeValue(forKey key: String) {}
  func restarted() -> NoCache { self }
  func close() {}
}

/// This project's cache, with both tiers or in memory only.
struct CisternInFront: WholeSubject {
  /// The store's folder, or nil for memory only.
  private let folder: String?
  private let store: Store
  private let cache: Cache<String, [UInt8]>

  init(folder: String?) throws {
    self.folder = folder
    store =
      if let folder {
        try Store(directory: folder, memoryLimit: .bytes(Limits.memory), diskLimit: .bytes(Limits.disk))
      } else {
        try Store.inMemory(memoryLimit: .bytes(Limits.memory))
      }
    cache = try store.cache(
      "values", of: [UInt8].self, keyedBy: String.self, expiry: .after(.seconds(Limits.seconds)))
  }

  func value(forKey key: String, fetch: @escaping @Sendable (String) async throws -> [UInt8]) async throws -> [UInt8] {
    try await cache.value(forKey: key, fetch: fetch)
  }

  func removeValue(forKey key: String) { cache.removeValue(forKey: key) }

  func restarted() async throws -> CisternInFront {
    try await store.close()
    return try CisternInFront(folder: folder)
  }

  func close() async throws { try await store.close() }
}

/// Foundation's cache: a lookup, and on a miss a fetch and an insertion.
// Sendable: NSCache's documentation allows its use by several threads.
struct NSCacheInFront: WholeSubject, @unchecked Sendable {
  private final class Entry {
    let value: [UInt8]
    let expires: Date

    init(_ value: [UInt8]) {
      self.value = value
      expires = Date(timeIntervalSinceNow: TimeInterval(Limits.seconds))
    }
  }

  private let cache = NSCache<NSString, Entry>()

  init() {
    cache.totalCostLimit = Limits.memory
  }

  func value(forKey key: String, fetch: @Sendable (String) async throws -> [UInt8]) async throws -> [UInt8] {
    let object = NSString(string: key)
    if let entry = cache.object(forKey: object), entry.expires > Date() { return entry.value }
    let value = try await fetch(key)
    cache.setObject(Entry(value), forKey: object, cost: value.count)
    return value
  }

  func removeValue(forKey key: String) { cache.removeObject(forKey: NSString(string: key)) }
  func restarted() -> NSCacheInFront { NSCacheInFront() }
  func close() {}
}

/// A Redis server: a lookup, and on a miss a fetch and an insertion.
struct RedisInFront: WholeSubject {
  let server: RedisServer
  private let client: RedisClient

  init(_ server: RedisServer) async throws {
    self.server = server
    client = try await RedisClient(server, connections: 4)
  }

  func value(forKey key: String, fetch: @Sendable (String) async throws -> [UInt8]) async throws -> [UInt8] {
    if let value = try await client.value(forKey: key) { return value }
    let value = try await fetch(key)
    try await client.setValue(value, forKey: key, seconds: Limits.seconds)
    return value
  }

  func removeValue(forKey key: String) async throws { try await client.removeValue(forKey: key) }

  func restarted() async throws -> RedisInFront {
    try await client.close()
    return try await RedisInFront(server)
  }

  func close() async throws { try await client.close() }
}
