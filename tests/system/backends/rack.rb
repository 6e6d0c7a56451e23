# Rack, on the server that the second argument names, with an application mounted at a prefix.
require 'json'
require 'rack'

# All texts in a value, which may be a list or a hash.
def texts(value)
  case value
  when nil then []
  when Array then value.flat_map { |one| texts(one) }
  when Hash then value.values.flat_map { |one| texts(one) }
  else [value.to_s.dup.force_encoding('BINARY').encode('UTF-8', invalid: :replace, undef: :replace)]
  end
end

def credentials(env)
  given = Rack::Auth::Basic::Request.new(env)
  return [] unless given.provided? && given.params
  return texts("basic #{given.credentials.join(':')}") if given.basic?
  texts("#{given.scheme} #{given.params}")
end

def answer(env, handler)
  request = Rack::Request.new(env)
  read = {
    handler: handler,
    method: request.request_method,
    query: texts(request.GET['api_key']),
    cookie: texts(request.cookies['session_id']),
    authorization: credentials(env)
  }
  [200, { 'X-Read' => JSON.generate(read, ascii_only: true), 'Content-Length' => '0' }, []]
rescue StandardError
  [400, { 'Content-Length' => '0' }, []]
end

app = Rack::Builder.new do
  map('/graphql') { run ->(env) { answer(env, 'mount') } }
  map('/') { run ->(env) { answer(env, env['PATH_INFO'] == '/api/login' ? 'login' : 'other') } }
end

# Rack 3 has them in a library of its own.
handlers = Rack.release < '3' ? Rack::Handler : (require 'rackup'; Rackup::Handler)
options = { Host: '127.0.0.1', Port: Integer(ARGV[0]) }
options.merge!(AccessLog: [], Logger: WEBrick::Log.new(File::NULL)) if ARGV[1] == 'webrick' && require('webrick')
options.merge!(Silent: true, Threads: '1:1') if ARGV[1] == 'puma'
handlers.get(ARGV[1]).run(app.to_app, **options)
