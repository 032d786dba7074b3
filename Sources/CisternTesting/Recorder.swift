import Locking

/// A list to which every thread can append. It keeps the order of the calls.
///
///     let changes = Recorder<Change<String, Article>>()
///     let token = articles.observe(.all) { changes.record($0) }
public final class Recorder<Element: Sendable>: Sendable {
  private let list = Guarded<[Element]>([])

  /// Creates an empty recorder.
  public init() {}

  /// Appends an element.
  ///
  /// - Parameter element: The element.
  public func record(_ element: Element) {
    list.withLock { $0.append(element) }
  }

  /// The recorded elements, in order.
  public var elements: [Element] { list.withLock { $0 } }

  /// The number of recorded elements.
  public var count: Int { list.withLock { $0.count } }

  /// Removes all recorded elements.
  ///
  /// - Returns: The removed elements, in order.
  public func removeAll() -> [Element] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}
