import Locking
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Dispatch
#endif

/// Gives memory back when the machine runs short of it: half of what the budget holds, each time the kernel says so.
///
/// On Linux it is told by pressure stall information: tasks of the machine stalled for memory for 300 ms within two
/// seconds. On Apple platforms by the memory pressure source. Where neither is there, nothing happens.
final class PressureResponse: Sendable {
  #if canImport(Darwin)
    private let source: any DispatchSourceMemoryPressure

    init?(budget: MemoryBudget) {
      let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
      source.setEventHandler { [weak budget] in budget?.giveBackHalf() }
      source.activate()
      self.source = source
    }

    deinit {
      source.cancel()
    }
  #else
    /// Closed to end the thread, which waits for its other end, too.
    private let stop: Int32

    init?(budget: MemoryBudget) {
      guard let pressure = Self.openTrigger() else { return nil }
      var ends: [Int32] = [0, 0]
      guard unsafe pipe(&ends) == 0 else {
        close(pressure)
        return nil
      }
      // A program that this process starts must not keep an end of it open: then the thread would never end.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      stop = ends[1]
      let stopped = ends[0]
      let thread = PressureThread(pressure: pressure, stopped: stopped, budget: budget)
      guard thread.start() else {
        close(pressure)
        close(stopped)
        close(ends[1])
        return nil
      }
    }

    deinit {
      close(stop)
    }

    /// Asks for an event when tasks stall for memory; nil where the kernel has no such thing, or not for us.
    private static func openTrigger() -> Int32? {
      let descriptor = unsafe open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      // Who is not privileged may ask for whole multiples of two seconds only.
      let trigger = "some 300000 2000000"
      let length = trigger.utf8.count + 1
      guard unsafe write(descriptor, trigger, length) == length else {
        close(descriptor)
        return nil
      }
      return descriptor
    }
  #endif
}

extension MemoryBudget {
  /// Evicts half of what is held.
  func giveBackHalf() { trim(toCost: cost / 2) }
}

#if !canImport(Darwin)
  /// A thread that waits for the kernel's event, or for the end.
  private final class PressureThread: Sendable {
    private let pressure: Int32
    private let stopped: Int32
    private let budget: Reference

    private struct Reference: Sendable {
      weak let budget: MemoryBudget?
    }

    init(pressure: Int32, stopped: Int32, budget: MemoryBudget) {
      self.pressure = pressure
      self.stopped = stopped
      self.budget = Reference(budget: budget)
    }

    /// Starts it, detached; it closes its descriptors when it ends.
    func start() -> Bool {
      var thread = pthread_t()
      let context = unsafe Unmanaged.passRetained(self)
      // The thread takes over the reference that the context carries, or nobody does and it is released here.
      let status = unsafe pthread_create(
        &thread, nil,
        { context in
          guard let context = unsafe context else { return nil }
          unsafe Unmanaged<PressureThread>.fromOpaque(context).takeRetainedValue().run()
          return nil
        }, context.toOpaque())
      guard status == 0 else {
        unsafe context.release()
        return false
      }
      pthread_detach(thread)
      return true
    }

    private func run() {
      var descriptors = [
        pollfd(fd: pressure, events: Int16(POLLPRI), revents: 0),
        pollfd(fd: stopped, events: Int16(POLLIN), revents: 0),
      ]
      while true {
        let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), -1)
        if ready < 0, errno == EINTR { continue }
        guard ready > 0, descriptors[1].revents == 0, descriptors[0].revents & Int16(POLLERR) == 0 else { break }
        budget.budget?.giveBackHalf()
      }
      close(pressure)
      close(stopped)
    }
  }
#endif
