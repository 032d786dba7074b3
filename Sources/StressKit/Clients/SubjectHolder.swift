import Locking

/// The holder of the current subject. The subject changes only while all clients are parked.
final class SubjectHolder: Sendable {
  private let subject: Guarded<Subject>

  init(_ subject: Subject) {
    self.subject = Guarded(subject)
  }

  var current: Subject { subject.withLock { $0 } }

  func replace(with new: Subject) {
    subject.withLock { $0 = new }
  }
}
