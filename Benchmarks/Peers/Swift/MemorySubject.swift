import Cistern
import Foundation
import Workloads

/// What is compared as a memory tier. The harness is generic over it, so that each is called as its own users call it.
protocol MemorySubject: Sendable {
  associatedtype Key: Sendable
  /// What is stored: a number, or an object that holds one where the subject takes objects only.
  associatedtype Value: Sendable
  /// Whether it can be told to hold only so many.
  static var isBounded: Bool { get }
  static func key(_ rank: Int) -> Key
  static func value(_ rank: Int) -> Value
  /// - Parameter capacity: The number of entries that it may hold.
  init(capacity: Int) throws
  func value(forKey key: Key) -> Value?
  func setValue(_ value: Value, forKey key: Key)
}

extension MemorySubject where Key: BenchmarkKey {
  static func key(_ rank: Int) -> Key { .key(rank) }
}

extension MemorySubject where Value == Int {
  static func value(_ rank: Int) -> Int { rank }
}

/// The memory tier of this project. Each value costs 1.
struct CisternSubject<Key: BenchmarkKey>: MemorySubject {
  static var isBounded: Bool { true }
  private let cache: Cache<Key, Int>

  init(capacity: Int) throws {
    cache = try Cache(costLimit: capacity)
  }

  @inline(__always)
  func value(forKey key: Key) -> Int? { cache.value(forKey: key) }
  @inline(__always)
  func setValue(_ value: Int, forKey key: Key) { cache.setValue(value, forKey: key) }
}

/// A dictionary behind a lock: the least that anyone would write.
struct DictionarySubject<Key: BenchmarkKey>: MemorySubject {
  static var isBounded: Bool { false }
  private let dictionary = BareDictionary<Key, Int>()

  init(capacity: Int) {}

  @inline(__always)
  func value(forKey key: Key) -> Int? { dictionary.value(forKey: key) }
  @inline(__always)
  func setValue(_ value: Int, forKey key: Key) { dictionary.setValue(value, forKey: key) }
}

/// A number as an object.
final class Boxed: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Kinds of key as Foundation has them. They are made beforehand: what bridging costs is not measured.
protocol ObjectKey {
  static func object(_ rank: Int) -> NSObject
}

extension Int: ObjectKey {
  static func object(_ rank: Int) -> NSObject { NSNumber(value: key(rank)) }
}

extension String: ObjectKey {
  static func object(_ rank: Int) -> NSObject { NSString(string: key(rank)) }
}

// Sendable holds because NSCache may be used by several threads, as its documentation says.
struct NSCacheSubject<Kind: ObjectKey>: MemorySubject, @unchecked Sendable {
  /// Sendable holds because strings and numbers do not change.
  struct Key: @unchecked Sendable {
    let object: NSObject
  }

  static var isBounded: Bool { true }
  static func key(_ rank: Int) -> Key { Key(object: Kind.object(rank)) }
  static func value(_ rank: Int) -> Boxed { Boxed(rank) }
  private let cache = NSCache<NSObject, Boxed>()

  init(capacity: Int) {
    cache.countLimit = capacity
  }

  @inline(__always)
  func value(forKey key: Key) -> Boxed? { cache.object(forKey: key.object) }
  @inline(__always)
  func setValue(_ value: Boxed, forKey key: Key) { cache.setObject(value, forKey: key.object) }
}
