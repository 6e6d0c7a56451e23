# Rack on Puma, with Ruby's own parser of JSON, whatever the type of the body.
require 'json'
require 'rack'

def member(value, *names)
  names.reduce(value) { |found, name| found.is_a?(Hash) ? found[name] : nil }
end

# Text that is no UTF-8 has no other form in JSON.
def shown(value)
  value.is_a?(String) && !value.valid_encoding? ? { bytes: value.unpack1('H*') } : value
end

app = lambda do |env|
  body = JSON.parse(env['rack.input'].read)
  read = { model: shown(member(body, 'model')), name: shown(member(body, 'params', 'name')) }
  [200, { 'x-read' => JSON.generate(read, ascii_only: true), 'content-length' => '0' }, []]
rescue StandardError
  [400, { 'content-length' => '0' }, []]
end

# Rack 3 has them in a library of its own.
handlers = Rack.release < '3' ? Rack::Handler : (require 'rackup'; Rackup::Handler)
handlers.get('puma').run(app, Host: '127.0.0.1', Port: Integer(ARGV[0]), Silent: true, Threads: '1:1')
