import Cistern
import Foundation
import Workloads

/// A subject that is compared as a memory tier. The harness is generic over it, so that each subject is called as its
/// users call it.
protocol MemorySubject: Sendable {
  associatedtype Key: Sendable
  /// The stored value: a number, or an object with a number if the subject accepts only objects.
  associatedtype Value: Sendable
  /// Whether the subject can limit its number of entries.
  static var isBounded: Bool { get }
  static func key(_ rank: Int) -> Key
  static func value(_ rank: Int) -> Value
  /// - Parameter capacity: The number of entries that the subject may hold.
  /// - Throws: An error if the subject cannot be created.
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

/// A dictionary behind a lock, the simplest solution.
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

/// Keys in the types of Foundation. They are created in advance, so that the cost of bridging is not measured.
protocol ObjectKey {
  static func object(_ rank: Int) -> NSObject
}

extension Int: ObjectKey {
  static func object(_ rank: Int) -> NSObject { NSNumber(value: key(rank)) }
}

extension String: ObjectKey {
  static func object(_ rank: Int) -> NSObject { NSString(string: key(rank)) }
}

// Sendable: NSCache's documentation allows its use by several threads.
struct NSCacheSubject<Kind: ObjectKey>: MemorySubject, @unchecked Sendable {
  /// Sendable: strings and numbers are immutable.
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
